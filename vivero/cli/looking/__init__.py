"""Commands that show: health, figures, instances, jobs, incidents, definitions, histories.

Entry: `lists`, `show`, `status`.
Imports: core, client, config, shared, terminal.
"""
