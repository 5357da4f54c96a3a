"""The nodes of a cluster, and which of them leads which partition."""
