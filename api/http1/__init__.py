"""The server's HTTP/1.1: parser, connection, exchange. `api.server` connects them with sockets."""
