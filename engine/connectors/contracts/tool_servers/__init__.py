"""The contracts of connectors whose servers give tools to agents.

Entry: `mcp.MCP_REMOTE`, `a2a.A2A_CLIENT`.
Imports: nothing of ours.
"""
