"""Which column depends on which: structures, probability tables, networks and their files."""
