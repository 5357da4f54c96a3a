"""The supervision of children: restarts, the watchdog, hangs, slowness, and connections that it can shut.

Entry: `supervisor.Supervisor`, `beat.Beat`.
Imports: storage, counters.
"""
