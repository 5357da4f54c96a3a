"""The part of a partition's consumer that survives its terms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from vivero.core.rules import TimerRules
from vivero.engine.cluster.partition_duty import PartitionDuty
from vivero.engine.consumer.observers import CommitObserver, ModelSource
from vivero.engine.consumer.rejected_commands import RejectedCommands
from vivero.engine.consumer.settings import ConsumerSettings, ConsumerStats
from vivero.engine.tracing.tracer import Tracer


class Owner(Protocol):
    """The consumer as terms and their parts see it: `engine.consumer.leadership.Consumer`."""

    settings: ConsumerSettings
    timer_rules: TimerRules
    stats: ConsumerStats
    definitions: ModelSource
    observer: CommitObserver
    rejected: RejectedCommands
    partition_duty: PartitionDuty
    tracer: Tracer | None
    """None: nothing is traced."""
    coming: Callable[[], bool]
    """Whether commands are being appended."""
