"""The contracts of connectors of message brokers, out and in: data, without a library of a protocol.

Entry: `kafka`, `rabbitmq`.
Imports: nothing of ours.
"""
