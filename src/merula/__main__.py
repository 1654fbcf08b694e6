"""`python -m merula` is the `merula` command."""

from merula.cli import main

if __name__ == "__main__":
    main()
