"""Partitions: the home of each command, the owner of each name, and the tenants that a command may use.

Entry: `homes.of_key`, `routes.Routes`.
Imports: nothing of ours.
"""
