"""Sibling processes: commands go to the process that leads their partition (docs/adr/0042).

Entry: `task.Siblings`.
Imports: storage, appender, outcomes, supervision.
"""
