"""The Model Context Protocol (MCP) for agents: tools that are requests of the REST API, behind the same checks.

Entry: `server`.
Imports: core, storage, engine, access, commands, computing, deployment, http.
"""
