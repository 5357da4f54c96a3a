"""The definitions of jobs with the settings of the program."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from vivero.engine.jobs.definitions import JobDefinition, JobRegistry
from vivero.engine.jobs.settings import JobSettings
from vivero.engine.jobs.type_settings import JobTypeSettings, unknown

_NOTHING = JobTypeSettings()


def configured(registry: JobRegistry, settings: JobSettings) -> JobRegistry:
    """Every definition with its retry settings, limits and schedule. Raises ValueError if a setting does not fit."""
    return JobRegistry({name: _configured(job, settings) for name, job in registry.definitions.items()})


def _configured(job: JobDefinition, settings: JobSettings) -> JobDefinition:
    made = settings.types.get(job.type, _NOTHING).applied(job, settings.retry, settings.limits)
    # A consumer never gives up, because it must not skip an event.
    return (
        made if made.follows is None or made.retry is None else replace(made, retry=replace(made.retry, max_attempts=0))
    )


def check_types(settings: JobSettings, known: Iterable[str]) -> None:
    """Raises ValueError if there are settings of a type that is not known."""
    names = set(known)
    for name, each in settings.types.items():
        if name not in names:
            raise ValueError(unknown(name, names, each.origin))
