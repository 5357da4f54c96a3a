"""Functions that several commands use: options, input and output, settings, failures.

Entry: `options`, `streams`, `failures`.
Imports: core, storage, engine, client, config, embedded, program, terminal, worker.
"""
