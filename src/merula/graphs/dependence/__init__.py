"""Columns that depend on others besides the class: their tables from counts, their log probabilities, their averages."""
