"""One command, to quiescence or to the end of its budget: the frame, the loop, and the work that follows each event.

Entry: `step.Processor`, `worklist`, `consequences`.
Imports: apply, bpmn, commands, events, migration, modifications, partitions, records, shared, state.
"""
