"""Connectors: jobs that the program works itself, and webhooks that start and continue process instances."""
