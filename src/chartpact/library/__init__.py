"""Each user's library: scripts kept under their identity, with versions and quotas."""

from chartpact.library.database import migrate, open_database, write
from chartpact.library.scripts import LibraryError, Quota, Script, ScriptErrors, Scripts, Version

__all__ = [
    "LibraryError",
    "Quota",
    "Script",
    "ScriptErrors",
    "Scripts",
    "Version",
    "migrate",
    "open_database",
    "write",
]
