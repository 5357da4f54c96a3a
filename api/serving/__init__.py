"""The server task on listening sockets, its certificate, and the services of nodes and ports without the API.

Entry: `server.serve`.
Imports: storage, http, http1.
"""
