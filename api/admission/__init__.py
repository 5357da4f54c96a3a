"""The way of a command to its partition, or its refusal: redirects, overload, and limits of those who wait.

Entry: `command_routing.CommandRouting`, `refusals`.
Imports: core, storage, engine, callers, http.
"""
