"""RabbitMQ, on Trio with the codec of pika: the broker of the inputs, a session, a publisher, a consumer.

Entry: `publisher.RabbitPublisher`, `consumer.RabbitConsumer`.
Imports: core, storage, contracts, http, outbound, receivers, work.
"""
