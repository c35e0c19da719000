"""The browser of the tests."""

import shutil

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser")  # the first starts fastest


def find_chromium() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)
