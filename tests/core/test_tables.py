"""The tables that behaviour consists of are complete."""

import re
from pathlib import Path
from typing import get_args

import vivero.core
from vivero.core.apply import APPLY
from vivero.core.bpmn.elements.contents import ELEMENTS as READ
from vivero.core.bpmn.elements.contents import EVENT_SUB_PROCESS
from vivero.core.bpmn.events import EVENT_KINDS
from vivero.core.bpmn.model import EventDefinition
from vivero.core.dispatch import COMMANDS, ELEMENTS, EVENT_BEHAVIOURS
from vivero.core.execution.consequences import FOLLOW
from vivero.core.execution.lifecycle import STAGES, TRANSITIONS
from vivero.core.records.base import Command
from vivero.core.records.codec import EVENTS, INTENTS
from vivero.core.state.instance_tree import ElementState

CORE = Path(vivero.core.__file__).parent
MADE = {"PROCESS", "MULTI_INSTANCE_BODY", "AD_HOC_SUB_PROCESS_INNER_INSTANCE", EVENT_SUB_PROCESS.type}
"""Types that no tag of a flow node stands for."""


def test_every_event_has_an_applier():
    assert set(APPLY) == set(EVENTS)


def test_every_command_has_a_handler_and_a_name():
    assert set(COMMANDS) == set(INTENTS.values()) == set(Command.__subclasses__())
    assert len(COMMANDS) == len(INTENTS), "two commands share a name"


def test_every_type_that_is_read_is_run_and_the_other_way_round():
    assert {kind.type for kind in READ.values()} | MADE == set(ELEMENTS)


def test_only_events_are_followed():
    assert set(FOLLOW) <= set(EVENTS)


def test_every_element_module_is_in_the_table():
    used = set(re.findall(r"behaviour\((\w+)\)", (CORE / "dispatch.py").read_text()))
    modules = {path.stem for path in (CORE / "elements").glob("*.py")} - {"__init__"}
    assert modules == used - {"module"}
    assert len(ELEMENTS) >= len(modules)


def test_every_event_definition_is_in_both_tables():
    assert set(EVENT_BEHAVIOURS) == set(get_args(EventDefinition)), "what is read is executed"
    modules = {f"{path.stem}EventDefinition" for path in (CORE / "events").glob("*.py")}
    assert set(EVENT_KINDS) <= modules, "one file an event"


def test_an_event_that_starts_processes_opens_its_starts():
    for event in EVENT_BEHAVIOURS.values():
        assert (event.start is None) == (event.open_start is None) == (not event.start_kinds)


def test_every_stage_runs_in_a_state_that_it_leaves():
    for state, _, following in STAGES.values():
        assert TRANSITIONS[state]
        assert following is None or STAGES[following][0] is state, "stages that follow each other run in one state"


def test_ended_is_final_and_everything_else_can_be_terminated():
    final = {state for state, following in TRANSITIONS.items() if not following}
    assert final == {ElementState.COMPLETED, ElementState.TERMINATED}
    for state in set(ElementState) - final - {ElementState.TERMINATING}:
        assert ElementState.TERMINATING in TRANSITIONS[state]


def test_all_transitions_of_the_golden_traces_are_in_the_table():
    """An event names the state that an element comes to; the table says from where it may."""
    to_state = {f"Element{state.value.title()}": state for state in ElementState}
    golden = Path(__file__).parent / "golden"
    seen = 0
    for path in golden.glob("*.txt"):
        now = {}
        for line in path.read_text().splitlines():
            event, _, about = line.strip().partition(" ")
            if event == "#":  # the next trace of the file
                now = {}
            if event == "InstanceCreated":
                now[about.split()[0]] = ElementState.ACTIVATING
            if event in to_state:
                name, state = about.split()[0], to_state[event]
                earlier = now.get(name, ElementState.ACTIVATED)  # where a trace begins with what waits
                assert state is ElementState.ACTIVATING or state in TRANSITIONS[earlier], f"{path.name}: {line}"
                now[name] = state
                seen += 1
        assert set(now.values()) <= {ElementState.COMPLETED, ElementState.TERMINATED, ElementState.ACTIVATED}
    assert seen > 100
