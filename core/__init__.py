"""The engine without Trio, SQL or clock. The same commands at the same times give the same events.

Entry: `dispatch.ELEMENTS`, `execution.step.Processor`, `memory.MemoryEngine`.
Imports: nothing of ours.
"""
