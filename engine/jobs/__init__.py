"""Background jobs: code of the program and of its users that runs outside of requests (docs/background-jobs.md).

A row of `job_executions` is one execution: it waits, runs on one node, and is deleted when it has succeeded. The
dispatcher pulls what is due, runs the handlers, and keeps the rows alive meanwhile. Jobs of process instances, which
workers complete over HTTP, are another thing.

Entry: `dispatcher.JobDispatcher`, `definitions`.
Imports: core, storage, supervision, tracing.
"""
