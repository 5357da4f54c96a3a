"""The reasons for which a migration is refused. The texts begin as those of Camunda, whose clients match them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from vivero.core.bpmn.model import JobDefinition, Node, Process, parts_of
from vivero.core.migration.plan import LISTENERS, Plan
from vivero.core.records.effects import Violation
from vivero.core.shared.suspended_work import is_stopped
from vivero.core.state.instance_tree import ACTIVATING, COMPLETING, TERMINATING, Element, Instance, Job

SUPPORTED = frozenset(
    {
        *("PROCESS", "SUB_PROCESS", "EVENT_SUB_PROCESS", "AD_HOC_SUB_PROCESS", "AD_HOC_SUB_PROCESS_INNER_INSTANCE"),
        *("SERVICE_TASK", "SEND_TASK", "BUSINESS_RULE_TASK", "SCRIPT_TASK", "USER_TASK", "RECEIVE_TASK"),
        *("CALL_ACTIVITY", "INTERMEDIATE_CATCH_EVENT", "EXCLUSIVE_GATEWAY", "EVENT_BASED_GATEWAY"),
        *("PARALLEL_GATEWAY", "INCLUSIVE_GATEWAY"),
    }
)
"""Types of elements that can be migrated while they are active."""
JOINS = frozenset({"PARALLEL_GATEWAY", "INCLUSIVE_GATEWAY"})


def begin(instance: Instance) -> str:
    return f"Expected to migrate process instance '{instance.key}' but "


# ---- the mappings alone


def wrong_mappings(
    given: Sequence[tuple[str, str]], source: Process, target: Process, instance: Instance
) -> list[Violation]:
    """Mappings that fit no instance, because an id is given twice or does not exist."""
    start = begin(instance)
    counts = Counter(before for before, _ in given)
    twice = [before for before, count in counts.items() if count > 1]
    wrong: list[Violation] = []
    if twice:
        text = f"{start}mapping instructions contain duplicate source element ids '[{', '.join(twice)}]'."
        wrong.append(Violation(text))
    for before, after in given:
        for id, process, name in ((before, source, "source"), (after, target, "target")):
            if id not in process.nodes and id not in process.flows:
                text = (
                    f"{start}mapping instructions contain a non-existing {name} element id '{id}'. "
                    f"Elements must exist in the {name} process definition."
                )
                wrong.append(Violation(text, id))
    for before, after in given:
        if (before in source.flows) != (after in target.flows) and not wrong:
            wrong.append(Violation(f"{start}'{before}' and '{after}' are not both sequence flows.", before))
    return wrong


# ---- live elements


def violations(plan: Plan) -> Iterator[Violation]:
    """The first problem of each live element, and those of the joins that wait for tokens.

    There may be thousands of elements of one node, whose problems are the same.
    """
    instance, flows = plan.instance, plan.source.flows.keys()
    for same in plan.kinds:
        first = same[0]
        found = next(_of_element(first, plan), None)
        if found is not None:
            yield from [Violation(begin(instance) + found, first.element)] * len(same)
    for same in plan.kinds:
        first = same[0]
        if first.awaiting_reset or not flows.isdisjoint(first.tokens):
            yield from [Violation(begin(instance) + text, id) for id, text in _of_joins(first, plan)] * len(same)
    for scope in plan.registering():
        yield from (Violation(begin(instance) + text, id) for id, text in _of_registered(scope, plan))
    for text in _of_instance(plan):
        yield Violation(begin(plan.instance) + text)


def _of_element(element: Element, plan: Plan) -> Iterator[str]:
    node, goal = plan.node(element), plan.goal(element)
    if node.type not in SUPPORTED:
        yield _unsupported(node)
    if goal is None:
        yield (
            f"no mapping instruction defined for active element with id '{node.id}'. "
            "Elements cannot be migrated without a mapping."
        )
        return
    yield from _other_type(node, goal)
    yield from _other_implementation(node, goal)
    yield from _other_loop(node, goal)
    if signature(node) != signature(goal) and node.type != "EVENT_SUB_PROCESS":
        yield _other_event(node, goal)
    yield from _other_scope(element, goal, plan)
    yield from _midway(element, node, goal)


def _listening(element: Element) -> list[Job]:
    """The jobs of running listeners."""
    return [job for job in element.waits.jobs.values() if job.kind in LISTENERS]


def _unsupported(node: Node) -> str:
    return (
        f"active element with id '{node.id}' has an unsupported type. The migration of a {node.type} is not supported."
    )


def _other_type(node: Node, goal: Node) -> Iterator[str]:
    if node.type != goal.type:
        yield (
            f"active element with id '{node.id}' and type '{node.type}' is mapped to an element with id '{goal.id}' "
            f"and different type '{goal.type}'. Elements must be mapped to elements of the same type."
        )


def implementation_fits(node: Node, goal: Node) -> bool:
    """A user task may become one of the engine, and not the other way round. An ad-hoc sub-process keeps its kind."""
    if node.type == "USER_TASK":
        return node.user_task is None or goal.user_task is not None
    return node.ad_hoc is None or (node.job is None) == (goal.job is None)


def _other_implementation(node: Node, goal: Node) -> Iterator[str]:
    if not implementation_fits(node, goal):
        if node.ad_hoc is None:
            yield _implementation("user task", node.id, "zeebe user task", goal.id, "job worker")
        else:
            kinds = ["BPMN" if one.job is None else "job worker" for one in (node, goal)]
            yield _implementation("ad-hoc sub-process", node.id, kinds[0], goal.id, kinds[1])


def _implementation(what: str, id: str, kind: str, goal: str, other: str) -> str:
    return (
        f"active {what} with id '{id}' and implementation '{kind}' is mapped to an {what} with id '{goal}' and "
        f"different implementation '{other}'. Elements must be mapped to elements of the same implementation."
    )


def _other_scope(element: Element, goal: Node, plan: Plan) -> Iterator[str]:
    scope = element.scope
    if scope is None or element.is_inner or element is plan.instance:
        return
    expected = plan.ids.get(scope.element)
    if expected is not None and goal.scope != expected:
        yield (
            f"the flow scope of active element with id '{element.element}' is changed. The flow scope of the active "
            f"element is expected to be '{expected}' but was '{goal.scope}'. "
            "The flow scope of an element cannot be changed during migration."
        )


def _other_loop(node: Node, goal: Node) -> Iterator[str]:
    if loop_of(node) != loop_of(goal):
        yield (
            f"active element with id '{node.id}' has different loop characteristics than the target element with id "
            f"'{goal.id}': '{loop_of(node)}' and '{loop_of(goal)}'. Both must be the same."
        )


def loop_of(node: Node) -> str:
    if node.loop is None:
        return "none"
    if node.loop.repetition is not None:
        return "standard loop"
    return "sequential multi-instance" if node.loop.sequential else "parallel multi-instance"


def signature(node: Node) -> tuple[object, ...]:
    """The features that two events must share. Only then may an element that waits for one wait for the other."""
    return node.awaits_all, *(type(part) for part in parts_of(node.event))


def _other_event(node: Node, goal: Node) -> str:
    return (
        f"active element with id '{node.id}' and event type '{event_type(node)}' is mapped to an element with id "
        f"'{goal.id}' and different event type '{event_type(goal)}'. "
        "Elements must be mapped to elements of the same event type."
    )


def event_type(node: Node) -> str:
    parts = [type(part).__name__.removesuffix("Event").upper() for part in parts_of(node.event)]
    return " and ".join(parts) if node.awaits_all else ", ".join(parts) or "NONE"


# ---- elements that are about to change


def _midway(element: Element, node: Node, goal: Node) -> Iterator[str]:
    """Problems of an element between two stages, and of one whose listener is not the same in the target."""
    listening = _listening(element)
    for job in listening:
        if _texts(node, job.listener_event) != _texts(goal, job.listener_event):
            yield (
                f"active element with id '{node.id}' waits for its '{job.listener_event}' listener with type "
                f"'{job.type}', and the target element with id '{goal.id}' has different '{job.listener_event}' "
                "listeners. Complete the listener's job first."
            )
    rests = element.waits.incidents or listening
    if (
        element.state is TERMINATING
        or element.then is not None
        or (element.state in (ACTIVATING, COMPLETING) and not rests and not element.children)
    ):
        yield CONCURRENT


CONCURRENT = "a concurrent command was executed on the process instance. Please retry the migration."


def _texts(node: Node, event: str) -> list[tuple[str, str]]:
    found: Sequence[JobDefinition] = node.listeners.get(event, ())
    return [(one.type.text, one.retries.text) for one in found]


# ---- joins


def _of_joins(scope: Element, plan: Plan) -> Iterator[tuple[str, str]]:
    """Problems of the tokens that wait on flows of the scope. Tokens keep counting at the target gateway."""
    flows, goals = plan.source.flows, list[str]()
    for gateway in scope.awaiting_reset:
        yield gateway, _unsupported(plan.source.nodes[gateway])
    waiting = [flow for flow in scope.tokens if flow in flows]
    for id in dict.fromkeys(flows[flow].target for flow in waiting):
        node = plan.source.nodes[id]
        goal = plan.target.nodes.get(plan.ids.get(id, ""))
        text = next(_of_join(node, goal, scope, plan), None)
        if text is not None or goal is None:
            yield id, text or ""
            continue
        for flow in waiting:
            if flows[flow].target == id:
                after = _goal_of_flow(flow, goal, plan)
                if after is None or after in goals:
                    yield flow, _flow_unmapped(flow, node, goal, after)
                else:
                    plan.ids[flow] = after
                    goals.append(after)


def _of_join(node: Node, goal: Node | None, scope: Element, plan: Plan) -> Iterator[str]:
    if node.type not in JOINS and node.start_quantity == 1:
        yield _unsupported(node)
    if goal is None:
        yield (
            f"no mapping instruction defined for active element with id '{node.id}', at which tokens wait. "
            "Elements cannot be migrated without a mapping."
        )
        return
    yield from _other_type(node, goal)
    if goal.scope != plan.ids.get(scope.element):
        yield f"the flow scope of active element with id '{node.id}' is changed, and tokens wait at it."
    if len(goal.incoming) < len(node.incoming):
        yield (
            f"target gateway with id '{goal.id}' has less incoming sequence flows than the source gateway with id "
            f"'{node.id}'. It must have at least the same number."
        )


def _goal_of_flow(flow: str, goal: Node, plan: Plan) -> str | None:
    after = plan.ids.get(flow, flow)
    return after if after in goal.incoming else None


def _flow_unmapped(flow: str, node: Node, goal: Node, after: str | None) -> str:
    problem = "is mapped to none of its incoming sequence flows" if after is None else "shares its target with another"
    return (
        f"the taken sequence flow with id '{flow}' of the gateway with id '{node.id}', which is mapped to '{goal.id}', "
        f"{problem}. Add a mapping instruction for the sequence flow."
    )


# ---- completed activities, and the instance


def _of_registered(scope: Element, plan: Plan) -> Iterator[tuple[str, str]]:
    """Problems of completed activities that can be compensated. They must keep a handler."""
    yield from _of_group(list(scope.registered), scope.element, plan)


def _of_group(names: Sequence[str], scope: str, plan: Plan) -> Iterator[tuple[str, str]]:
    """`scope`: the id of their flow scope. Inner instances of a loop have the id of their body."""
    around = plan.ids.get(scope)
    goals = Counter(plan.ids.get(name) for name in names)
    for name in names:
        node, goal = plan.source.nodes[name], plan.target.nodes.get(plan.ids.get(name, ""))
        start = f"completed element with id '{name}' can be compensated, and "
        if goal is None:
            yield name, f"{start}no mapping instruction is defined for it."
        elif goal.type != node.type or (goal.scope != around and name != scope):
            yield name, f"{start}the target element with id '{goal.id}' has another type or flow scope."
        elif node.compensated_by is not None and goal.compensated_by is None:
            yield name, f"{start}nothing compensates the target element with id '{goal.id}'."
        elif goals[goal.id] > 1:
            text = f"another one that can be, too, is mapped to the same target element with id '{goal.id}'."
            yield name, start + text


def of_registered_inside(name: str, registered: Sequence[str], plan: Plan) -> Iterator[Violation]:
    """Problems of what is registered inside of the completed activity `name`."""
    for id, text in _of_group(registered, name, plan):
        yield Violation(begin(plan.instance) + text, id)


def _of_instance(plan: Plan) -> Iterator[str]:
    instance, nodes = plan.instance, plan.target.nodes
    if is_stopped(instance):
        yield "it is suspended: resume it first."
    if instance.start_lock is not None and instance.process_id != plan.target.id:
        yield (
            f"it was started by a message with the correlation key '{instance.start_lock}', and the target has another "
            "process id. The cardinality of the message start event cannot be kept: one instance for a correlation key."
        )
    for id in instance.terminate_after:
        if plan.ids.get(id, id) not in nodes:
            yield f"a runtime instruction ends it after the element with id '{id}', which has no mapping instruction."
    begun_by = None if instance.state is not ACTIVATING or instance.start is None else instance.start[0]
    if begun_by is not None and plan.ids.get(begun_by, begun_by) not in nodes:
        yield f"it begins at the start event with id '{begun_by}', which has no mapping instruction."
    if has_deferred_work(instance, plan.elements):
        yield CONCURRENT


def has_deferred_work(instance: Instance, elements: Iterable[Element]) -> bool:
    """Whether a later quantum goes on with something in the instance."""
    if not instance.tree.work:
        return False
    own = {element.key for element in elements}
    return any(key in own for key, _, _ in instance.tree.work)
