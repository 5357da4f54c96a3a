"""The contracts of connectors whose servers give tools to agents.

Entry: `mcp.MCP_REMOTE`.
Imports: nothing of ours.
"""
