"""What a sum of log terms says of each set of columns: main effects that carry all they can, pairs what is left, larger sets the rest."""
