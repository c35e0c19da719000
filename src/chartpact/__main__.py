"""`python -m chartpact` is the command line."""

import sys

from chartpact.cli import main

if __name__ == "__main__":
    sys.exit(main())
