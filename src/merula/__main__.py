"""`python -m merula` is the `merula` command."""

from merula.cli import main

main()
