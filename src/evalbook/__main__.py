"""``python -m evalbook`` is the command line."""

from evalbook.cli.main import main

if __name__ == "__main__":
    main()
