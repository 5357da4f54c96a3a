"""Random operations on whatever runs: suspensions most of all, beside modifications, migrations and business ids."""

from tests.core.randomised.random_migrations import RandomMigrations
from tests.core.randomised.random_modifications import random_modification
from vivero.core.records.business_ids import AssignBusinessId
from vivero.core.records.suspensions import ResumeInstance, SuspendInstance

KEPT = 0.5
"""The chance that a suspended instance stays suspended when an operation comes to it."""
BUSINESS_IDS = ("order-1", "order-2")


class RandomOperations:
    """Makes the operations of a run. A suspended instance is mostly resumed, as all others are refused for it."""

    def __init__(self) -> None:
        self.migrations = RandomMigrations()

    def command_of(self, random, instance, engine):
        if instance.suspended_at is not None and random.random() > KEPT:
            return ResumeInstance(instance.key, random.random() < 0.3)
        return random.choice(_KINDS)(self, random, instance, engine)


_KINDS = (
    *[lambda _, random, instance, engine: SuspendInstance(instance.key, random.random() < 0.3)] * 5,
    *[lambda _, random, instance, engine: random_modification(random, instance, engine)] * 3,
    lambda made, random, instance, engine: made.migrations.command_of(random, instance, engine),
    lambda _, random, instance, engine: AssignBusinessId(instance.key, random.choice(BUSINESS_IDS)),
)
