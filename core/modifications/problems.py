"""Problems of a modification. All are collected, and the first one is the reason of the rejection.

Clients of Camunda know the texts.
"""

from __future__ import annotations

from vivero.core.records.effects import Reject, RejectionCode, Violation

SUPPORTED = (
    *("AD_HOC_SUB_PROCESS", "BUSINESS_RULE_TASK", "CALL_ACTIVITY", "COMPLEX_GATEWAY", "END_EVENT"),
    *("EVENT_BASED_GATEWAY", "EVENT_SUB_PROCESS", "EXCLUSIVE_GATEWAY", "INCLUSIVE_GATEWAY"),
    *("INTERMEDIATE_CATCH_EVENT", "INTERMEDIATE_THROW_EVENT", "MANUAL_TASK", "PARALLEL_GATEWAY", "RECEIVE_TASK"),
    *("SCRIPT_TASK", "SEND_TASK", "SERVICE_TASK", "SUB_PROCESS", "TASK", "TRANSACTION", "USER_TASK"),
)
"""Types of elements that a modification can activate."""


class Impossible(Exception):
    """An instruction to activate cannot be followed. The message says why, as `Problems.add_to` takes it."""


class Problems:
    """Collects the problems of a modification of a process."""

    def __init__(self, process_id: str) -> None:
        self._process_id = process_id
        self._found: dict[Violation, None] = {}

    def add(self, what: str, element_id: str | None = None) -> None:
        """`what`: the problem, as it follows after "but"."""
        text = f"Expected to modify instance of process '{self._process_id}' but {what}"
        self._found[Violation(text, element_id)] = None

    def add_to(self, kind: str, what: str, element_id: str | None = None) -> None:
        """`kind`: of the instructions at fault: activate, move, terminate or variable."""
        self.add(f"it contains one or more {kind} instructions {what}", element_id)

    def check(self, *, moot: bool = False) -> None:
        """Raises Reject if there are problems. `moot`: there is nothing to modify."""
        if self._found:
            found = tuple(self._found)
            raise Reject(RejectionCode.INVALID_ARGUMENT, found[0].message, found, moot=moot)


def unsupported_type(type_: str) -> str:
    """The reason why elements of a type cannot be activated."""
    return (
        f"The activation of elements with type '{type_}' is not supported. "
        f"Supported element types are: {', '.join(SUPPORTED)}"
    )


BEHIND_GATEWAY = "The activation of elements belonging to an event-based gateway is not supported"
STARTS_PROCESS = "The activation of elements that start the process by an event (instantiate) is not supported"
AMBIGUOUS = (
    "for an element that has a flow scope with more than one active instance: '{}'. "
    "Can't decide in which instance of the flow scope the element should be activated. "
    "Please specify an ancestor element instance key for this activate instruction."
)
MULTI_INSTANCE = (
    "that would result in the activation of multi-instance element '{}', which is currently unsupported. "
    "Please specify an ancestor element instance key of an inner instance for this activate instruction."
)
ANCESTOR_UNKNOWN = "with an ancestor scope key that does not exist, or is not in an active state: '{}'"
ANCESTOR_ELSEWHERE = "with an ancestor scope key that does not belong to the modified process instance: '{}'"
NO_ANCESTOR = "with an ancestor scope key that is not an ancestor of the element to activate: '{}'"
SCOPE_ENDS = "for an element '{}' whose required flow scope instance is also being terminated: '{}'"
CHILD_ENDS = (
    "the given instructions would terminate the instance. The instance was created by a call activity in the parent "
    "process. To terminate this instance please modify the parent process instead."
)
TOO_MANY = (
    "the modification {} {} element instances, at most {} are allowed, as the size exceeds the maximum batch size. "
    "Please reduce the size by splitting the modification into multiple commands."
)
TOO_MANY_NEW = (
    "more than {} activations make new scopes or set variables, as the size exceeds the maximum batch size. "
    "Please reduce the size by splitting the modification into multiple commands."
)
HANDLER_ENDS = (
    "with an element instance that compensates for the throwing event '{}', which would wait for ever: '{}'. "
    "Please terminate the throwing event, too."
)
