"""How many files and connections this process may have open."""

import resource


def raise_to_hard() -> int:
    """Raises the limit on open files to the most the system permits, and returns it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        except (ValueError, OSError):  # some systems call it unlimited, and permit less
            return soft
    return hard


def describe() -> str:
    """The limit, for people."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == hard:
        return f"{soft}, the most this system permits"
    return f"{soft}; a server raises it to {hard}, the most this system permits"
