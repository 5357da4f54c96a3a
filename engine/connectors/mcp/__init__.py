"""Clients of MCP servers: one connection for each call, with bounds of bytes, items and time.

Entry: `remote.McpRemote`.
Imports: core, contracts, http, jobs, outbound, work.
"""
