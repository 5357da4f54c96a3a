"""The engine's state and its tables: what a batch loads and saves."""
