"""The log appender: what waits to be appended, and who is admitted."""
