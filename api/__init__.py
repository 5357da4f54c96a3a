"""The REST API as one ASGI callable. It appends commands and reads tables, and never runs the engine.

Entry: `app.build`, `routes`, `services`.
Imports: core, storage, engine.
"""
