"""Work for many users on few cores, for the sandbox, the rasteriser and the server alike.

`turns` says who is next; `cores` how many may run at once. `worker` is one supervised process,
`pool` the processes that are kept for the next job, and `lanes` admits users' jobs to them.
`io_threads` are for jobs that only wait.
"""
