"""Kafka, by librdkafka in threads: its settings from inputs, a producer for service tasks, a consumer for topics.

Entry: `producer.KafkaProducer`, `consumer.KafkaConsumer`.
Imports: core, contracts, http, outbound, receivers, work.
"""
