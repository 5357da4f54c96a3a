"""Compute processes: heavy Python work leaves the process of the event loop (docs/adr/0062).

A thread would hold the interpreter for 5 ms at each turn of the loop. A compute process does one task after the other,
with less priority than the program and PostgreSQL. It is started when it is needed and ends when it is idle.

Entry: `pool.ComputePool`.
Imports: core, supervision.
"""
