"""The tasks of a running engine: what a nursery runs around the pure core."""
