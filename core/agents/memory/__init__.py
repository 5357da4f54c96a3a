"""The memory of an agent: its context as the variable has it, and the window of messages that a model sees.

Entry: `context.read_context`, `context.written`, `window.window`.
Imports: nothing of ours.
"""
