"""Standard loop of an activity. BPMN 2.0.2 §10.3.8, §13.3.6: the activity runs again while the loop condition is true,
and at most `loopMaximum` times. With `testBefore` the condition is evaluated before the first iteration, too.

The body holds one inner instance at a time. `loopCounter` is the number of an inner instance, from 1; the condition
sees the number of the last one, 0 before the first.
"""

from __future__ import annotations

from vivero.core.bpmn.model import Repetition
from vivero.core.records.effects import Effects, Fail, IncidentType
from vivero.core.records.instances import ElementCompleting
from vivero.core.shared.flows import enter_inner
from vivero.core.shared.jobs import int32_of
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


def begin(repetition: Repetition, body: Element, view: View) -> Effects:
    """Enter the first inner instance, or complete the body if the condition is false already."""
    if _may_repeat(repetition, 0, body, view) and (not repetition.test_before or _holds(repetition, 0, body, view)):
        return enter_inner(view.node(body), body, 0, view)
    return (ElementCompleting(body.key),)


def proceed(repetition: Repetition, body: Element, inner: Element, view: View) -> Effects:
    """Enter the next inner instance if the loop goes on. The body sees what the last one has given."""
    done = inner.index + 1
    if body.then is None and _may_repeat(repetition, done, body, view) and _holds(repetition, done, body, view):
        return enter_inner(view.node(body), body, done, view)
    return ()


def _may_repeat(repetition: Repetition, done: int, body: Element, view: View) -> bool:
    """Whether another iteration is allowed after `done` ones."""
    if repetition.maximum is None:
        return True
    maximum = int32_of(repetition.maximum, body, view)
    if maximum < 1:
        text = repetition.maximum.text.removeprefix("=").strip()
        raise Fail(
            IncidentType.EXTRACT_VALUE_ERROR,
            f"Expected the loop maximum '{text}' to be 1 or more, but was '{maximum}'.",
        )
    return done < maximum


def _holds(repetition: Repetition, done: int, body: Element, view: View) -> bool:
    condition, counter = repetition.condition, {"loopCounter": done}
    return condition is None or view.expressions.typed(condition, body, bool, IncidentType.EXTRACT_VALUE_ERROR, counter)
