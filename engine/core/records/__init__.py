"""Everything that goes through the log: commands in, events out, rejections, replies and follow-ups.

Commands are imperative, events past tense (`JobCompleted`). Both are frozen records; a command's payload in the log is
its JSON object, an event's its JSON array with the class name first, so that fields may only ever be added at the end.
Keys are 64-bit integers (`partition << 51 | counter`), times are epoch milliseconds, variable values are JSON text.
"""
