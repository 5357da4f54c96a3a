"""Traces: the export of spans by OpenTelemetry. Without a collector in the settings nothing of it is imported.

Entry: `export.Exporter`.
Imports: storage, engine.
"""
