"""Which column depends on which: graphs, scores of families, and searches over them, from counts."""
