"""Which partition handles a command and owns what is found by a name, and which tenants a command may use.

Entry: `homes.of_key`, `routes.Routes`.
Imports: nothing of ours.
"""
