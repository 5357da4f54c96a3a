"""Metrics: the tables of what is measured, and their exposition through OpenTelemetry and Prometheus."""
