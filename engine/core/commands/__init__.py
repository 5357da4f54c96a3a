"""One file per record family: what a command needs loaded, and what it does. Handlers may `Reject`."""
