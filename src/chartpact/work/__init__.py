"""Work for many users on few cores, for the sandbox, the rasteriser and the server alike.

`turns` says who is next; `cores` how many may run at once. `process` is one supervised process,
`worker` one that does jobs. `pool` keeps workers for the next job, and `lanes` admits users' jobs
to them. `io_threads` are for jobs that only wait.
"""
