"""The records of the log: commands, events, rejections, replies and follow-ups.

Names of commands are imperative, names of events past tense (`JobCompleted`). Both are frozen records. In the log a
command is a JSON object, and an event is a JSON array with the class name first. New fields of events are therefore
only added at the end. Keys are 64-bit integers (`partition << 51 | counter`), times are epoch milliseconds, values of
variables are JSON text.

Entry: `codec`, `effects`.
Imports: partitions.
"""
