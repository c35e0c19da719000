"""How often a process searches for garbage."""

import gc

MANY_OBJECTS = 100_000  # between two searches; imports make as many, and no garbage


def search_rarely() -> None:
    gc.set_threshold(MANY_OBJECTS)
