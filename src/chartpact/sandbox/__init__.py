"""Every run of a script happens in a fresh, hardened process that is forked from a warm one.

`pool` admits runs and reads answers; `process` is the warm process as its owner sees it; `zygote`
and `child` are what runs inside; `wire` is what crosses the boundary; `layers` says what surrounds
a run, and whether this host has it.
"""
