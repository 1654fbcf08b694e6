"""Large plain CSV files, read by a compiled loop: numbers while they are found, words as codes of the different ones.

The loop decides nothing: the different words of each column, and one number for all that it read, are handed to the reader
for all files as a small table, and what that makes of them holds for the cells. What the loop does not know (quotation
marks, uneven rows, columns of very many words …) leaves the whole file to the reader for all files.
"""
