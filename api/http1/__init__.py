"""The server's HTTP/1.1: parser, connection, exchange. `api.serving.server` connects them with sockets.

Entry: `connection.serve_connection`.
Imports: core, storage.
"""
