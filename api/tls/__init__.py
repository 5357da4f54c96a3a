"""TLS and HTTP/2 without a proxy: hypercorn's protocols on our own connections, limits and deadlines.

Entry: `server.serve`.
Imports: storage, http1, serving.
"""
