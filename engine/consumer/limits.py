"""The limits of the core that follow from the settings of a consumer."""

from __future__ import annotations

from vivero.core.execution.step import StepLimits
from vivero.core.rules import TimerRules
from vivero.engine.consumer.settings import ConsumerSettings


def step_limits(settings: ConsumerSettings, timer_rules: TimerRules) -> StepLimits:
    return StepLimits(
        settings.quantum_items,
        timer_rules,
        settings.paged_from,
        stage_steps=settings.stage_steps,
        max_part_rows=settings.max_part_rows,
        max_tree_rows=settings.max_tree_rows,
    )
