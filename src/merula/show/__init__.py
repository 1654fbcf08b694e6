"""How numbers, tables and pictures are shown: one vocabulary for every floor above."""
