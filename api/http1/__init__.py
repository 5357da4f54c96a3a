"""HTTP/1.1 as the server speaks it: parser, connection, exchange; `api.server` puts them behind sockets."""
