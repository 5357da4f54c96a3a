"""Models for the tests of the library, and short names."""

from datetime import UTC, datetime, timedelta

from tests.core.event_models import model
from tests.core.golden.recording import ROOTS
from tests.core.models import end, start, task
from vivero.library import Models

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def timer(duration):
    return f"<timerEventDefinition><timeDuration>{duration}</timeDuration></timerEventDefinition>"


HELLO = '<messageEventDefinition messageRef="hello"/>'
ALARM = '<signalEventDefinition signalRef="alarm"/>'


def models(*content, **more):
    """One process `p`; `more`: others, by their id."""
    files = {"p.bpmn": model(*content, beside=(ROOTS,))}
    return Models(files | {f"{name}.bpmn": file for name, file in more.items()})


ONE_TASK = models(start(), task("work", inputs=[("=a + 1", "b")], outputs=[("=r", "c")]), end(), "start > work > end")
