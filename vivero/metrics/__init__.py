"""Metrics: the tables of what is measured, and their exposition through OpenTelemetry and Prometheus.

Entry: `instruments`, `exposition.Exposition`.
Imports: storage, engine, api, node, tracing, web.
"""
