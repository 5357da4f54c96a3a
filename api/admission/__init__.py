"""Where a command goes, and whether it is taken: its partition, redirects, refusals, and limits of those who wait.

Entry: `command_routing.CommandRouting`, `refusals`.
Imports: core, storage, engine, http.
"""
