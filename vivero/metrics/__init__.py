"""Metrics: the tables of what is measured, and their exposition through OpenTelemetry and Prometheus.

Entry: `instruments`, `sources.Sources`, `exposition.SdkExposition`.
Imports: core, storage, engine, api, tracing, web.
"""
