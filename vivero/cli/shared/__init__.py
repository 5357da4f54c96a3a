"""Functions that several commands use: options, input and output, settings, failures.

Entry: `options`, `streams`, `failures`.
Imports: storage, engine, client, config, embedded, program, terminal, worker.
"""
