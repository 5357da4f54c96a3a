"""Trace contexts: what a span knows of its parent, as text for the log and for headers. It knows no OpenTelemetry.

w3c       traceparent and tracestate, in and out
current   the context of the task that runs, for log lines

Entry: `tracer.Tracer`, `w3c`.
Imports: nothing of ours.
"""
