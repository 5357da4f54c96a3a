"""Modifications in a few words: what to activate, terminate and move, and what is there afterwards."""

from tests.core.engine import raw
from tests.core.models import end, par, process, start, sub, task
from vivero.core.records.effects import RejectionCode
from vivero.core.records.modifications import (
    ActivateInstruction,
    ModifyInstance,
    MoveInstruction,
    TerminateInstruction,
    VariableInstruction,
)

NESTED = process(
    start(),
    task("before"),
    sub(
        "outer",
        start("s1"),
        sub("inner", start("s2"), task("deep"), task("deeper"), "s2 > deep > deeper"),
        task("beside"),
        "s1 > inner > beside",
    ),
    task("after"),
    end(),
    "start > before > outer > after > end",
)
FORKED = process(start(), par("f"), task("a"), task("b"), par("j"), task("c"), "start > f > a > j > c", "f > b > j")


def activate(id, ancestor=None, scope=None, **variables):
    """`scope`: of the variables; None: there are none."""
    given = () if scope is None else (VariableInstruction(raw(variables), scope),)
    return ActivateInstruction(id, given, ancestor)


def move(source, target, scope_type="direct", ancestor=None, scope=None, **variables):
    """`source`: a key or an id."""
    given = () if scope is None else (VariableInstruction(raw(variables), scope),)
    if isinstance(source, int):
        return MoveInstruction(target, None, source, scope_type, ancestor, given)
    return MoveInstruction(target, source, None, scope_type, ancestor, given)


def terminate(what):
    """`what`: a key or an id."""
    return TerminateInstruction(key=what) if isinstance(what, int) else TerminateInstruction(element_id=what)


def command(key, *instructions):
    """The command; ids alone are activated, and those with a minus terminated."""
    given = [_instruction(one) for one in instructions]
    return ModifyInstance(
        key,
        tuple(one for one in given if isinstance(one, ActivateInstruction)),
        tuple(one for one in given if isinstance(one, TerminateInstruction)),
        tuple(one for one in given if isinstance(one, MoveInstruction)),
    )


def _instruction(given):
    if not isinstance(given, str):
        return given
    return terminate(given[1:]) if given.startswith("-") else activate(given)


def modify(engine, key, *instructions):
    """It is accepted, and answered."""
    handled = engine.run(command(key, *instructions))
    assert handled.rejection is None, handled.rejection
    assert handled.answered
    return handled


def refused(engine, key, *instructions, code=RejectionCode.INVALID_ARGUMENT):
    """It is refused, and nothing has changed; all reasons."""
    before, next_key = engine.elements, engine.state.next_key
    handled = engine.run(command(key, *instructions))
    assert handled.rejection is not None, "it was accepted"
    assert handled.rejection.code is code, handled.rejection
    assert (engine.elements, engine.state.next_key, handled.events) == (before, next_key, [])
    problems = handled.rejection.violations
    assert not problems or problems[0].message == handled.rejection.reason
    return [one.message for one in problems] or [handled.rejection.reason]
