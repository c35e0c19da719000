"""The layers round a run: which there are, which this host has, which a public server needs."""

LIMITS, PRIVILEGES, LANDLOCK, SECCOMP, TIMER = 1, 2, 4, 8, 16
