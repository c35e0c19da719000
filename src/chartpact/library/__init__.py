"""Each user's library: scripts with their versions, and bars, in one database.

`database` opens it, `schema` has its tables; `scripts` and `uploads` are what users keep there, and
`local` is the one user of a machine without accounts.
"""
