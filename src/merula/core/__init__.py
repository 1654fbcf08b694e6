"""What everything else stands on: log space, compiled loops, threads, checks, notes, files. It knows no table."""
