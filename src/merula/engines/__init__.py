"""Engines: where rows are read and statistics are added. Everything above is blind to which one ran."""
