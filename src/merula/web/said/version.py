"""The version of what is said: it changes when a word that was said is no longer said, or means something else."""

VERSION = 1
