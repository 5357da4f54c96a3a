"""Ad-hoc sub-process. BPMN 2.0.2 §10.3.5, §13.3.5: its activities have no required order. A collection, requests or the
worker of its job activate them, and its completion condition is evaluated when one of them has completed.

Each activation has a scope of its own, an inner instance (as in Camunda 8), in which the flow of the activated elements
runs. In other files: which elements share one (`shared/ad_hoc_activations.py`), the result of the job, the request.
"""

from __future__ import annotations

from collections.abc import Sequence

from vivero.core.bpmn.elements.ad_hoc import INNER_TYPE
from vivero.core.bpmn.model import AdHoc, JobDefinition
from vivero.core.elements.multi_instance import CHUNK, PAGED_CHUNK, prevents_paging
from vivero.core.events import subscriptions
from vivero.core.feel import Expression, from_json
from vivero.core.records.ad_hoc import (
    Activation,
    AdHocActivationsAdded,
    AdHocActivationsTaken,
    AdHocOutputAdded,
    AdHocSecretsLocated,
)
from vivero.core.records.effects import Effects, Fail, IncidentType
from vivero.core.records.instances import ElementActivating, ElementCompleting, LoopStarted, VariableSet
from vivero.core.records.jobs import JobCreated
from vivero.core.rules import MAX_ACTIVATIONS, MAX_LOOP_CHARACTERS
from vivero.core.shared import row_limits
from vivero.core.shared.ad_hoc_activations import doing, fulfil, grouped, progress_of, settings_of, unknown
from vivero.core.shared.approvals import begin_of
from vivero.core.shared.jobs import AD_HOC, cancel_jobs, create_job
from vivero.core.shared.secret_places import HEADER
from vivero.core.shared.variables import output_scope, owner_of, set_in
from vivero.core.state.instance_tree import Element
from vivero.core.view import View

FAILURE = IncidentType.EXTRACT_VALUE_ERROR


def activate(scope: Element, view: View) -> Effects:
    node, settings = view.node(scope), settings_of(scope, view)
    ids = _collection(settings.active, scope, view) if settings.active is not None else []
    yield from subscriptions.subscribe_event_sub_processes(scope, view)
    if node.job is not None:
        yield from _create_job(scope, node.job, view)
    elif ids:
        yield AdHocActivationsAdded(scope.key, _activations(ids, scope, settings, view))


def _create_job(scope: Element, job: JobDefinition, view: View) -> Effects:
    """The places of secrets are those of the first job: variables that the inputs have read may have changed since."""
    known = progress_of(scope).secret_places
    for created in create_job(scope, job, view, {} if known is None else {HEADER: known}, AD_HOC):
        yield created
        if known is None and isinstance(created, JobCreated) and HEADER in created.headers:
            yield AdHocSecretsLocated(scope.key, created.headers[HEADER])


def _collection(active: Expression, scope: Element, view: View) -> list[str]:
    try:
        ids: list[str] = view.expressions.typed(active, scope, list, FAILURE)
    except Fail as failure:
        raise _not_activated(failure.message) from failure
    if len(ids) > MAX_ACTIVATIONS:
        raise _not_activated(f"At most {MAX_ACTIVATIONS} elements are allowed, not {len(ids)}.")
    if not all(isinstance(id, str) for id in ids):
        raise _not_activated(f"Expected the expression '{active.text}' to give a list of element ids.")
    return ids


def _activations(ids: list[str], scope: Element, settings: AdHoc, view: View) -> tuple[Activation, ...]:
    wrong = unknown(ids, settings)
    if wrong is not None:
        raise Fail(FAILURE, f"{doing(scope)} {wrong}")
    activations = grouped([(id, {}) for id in ids], settings)
    count = len(activations)
    row_limits.check(scope, view, FAILURE, count, 0 if _needs_pages(scope, count, settings, view) else count)
    return activations


def _not_activated(why: str) -> Fail:
    return Fail(FAILURE, f"Failed to activate ad-hoc elements. {why}")


def begin(scope: Element, targets: Sequence[str], view: View) -> Effects:
    """Begin with these elements, which may be anywhere inside, instead of with the collection or a job. They share an
    inner instance."""
    for name, value in view.node(scope).presets.items():
        yield VariableSet(view.key(), scope.key, name, view.expressions.json_of(value))
    yield AdHocActivationsAdded(scope.key, ((tuple(targets), {}),))


def settle(scope: Element, view: View) -> Effects:
    """Called after each activation, after the end of each inner instance, and after each quantum."""
    settings, progress = settings_of(scope, view), progress_of(scope)
    over = progress.fulfilled or scope.interrupted
    if progress.pending and not over:
        if _needs_pages(scope, len(progress.pending), settings, view):
            yield LoopStarted(scope.key, (), paged=True)
        yield from _begin_inner_instances(scope, progress.pending, settings, view)
    elif not scope.live and (over or _needs_no_decision(scope, settings, view)):
        yield from _output(scope, settings, view)
        yield ElementCompleting(scope.key)


def _needs_pages(scope: Element, count: int, settings: AdHoc, view: View) -> bool:
    """Whether so many inner instances are to begin that they are loaded in pages from now on, as those of a loop."""
    if scope.pages is not None or scope.live or settings.sequential:
        return False
    return row_limits.rows_of_part(scope) + count > view.tree_rules.paged_from and not prevents_paging(scope, view)


def _needs_no_decision(scope: Element, settings: AdHoc, view: View) -> bool:
    """Whether it completes with its last inner instance, as neither a condition nor a worker decides."""
    return progress_of(scope).begun and settings.until is None and view.node(scope).job is None


def _begin_inner_instances(scope: Element, pending: Sequence[Activation], settings: AdHoc, view: View) -> Effects:
    most = PAGED_CHUNK if scope.pages is not None else CHUNK
    if settings.sequential:
        most = 0 if scope.live else 1
    for ids, variables in pending[:most]:
        key = view.key()
        yield ElementActivating(
            key, scope.key, settings.inner, INNER_TYPE, begin=tuple(begin_of(ids, variables, scope, view))
        )
        own = variables if settings.result is None else {settings.result: "null"} | variables
        for name, value in own.items():
            yield VariableSet(view.key(), key, name, value)
    if most:
        yield AdHocActivationsTaken(scope.key, min(most, len(pending)))


def collect(scope: Element, child: Element, view: View) -> Effects:
    """Part of the completion of an inner instance or an event sub-process: a failure becomes an incident of it."""
    if scope.then is not None or scope.interrupted:
        return
    settings, job, fulfilled = settings_of(scope, view), view.node(scope).job, progress_of(scope).fulfilled
    output = None
    if settings.output is not None and settings.output_name is not None:
        output = view.expressions.json_of(view.expressions.evaluate(settings.output, child))
        yield from _append(scope, settings.output_name, output, view)
    if job is not None and not fulfilled:
        yield from cancel_jobs(scope)
        yield from _create_job(scope, job, view)
    elif settings.until is not None and not fulfilled and _is_true(settings.until, scope, output, settings, view):
        yield from fulfil(scope, settings.cancel_remaining, scope.live > 1)


def _append(scope: Element, name: str, output: str, view: View) -> Effects:
    known = scope.variables.get(name)
    if known is None:
        yield VariableSet(view.key(), scope.key, name, f"[{output}]")
    elif not known.value.startswith("["):
        raise Fail(FAILURE, f"Expected the variable '{name}' of the ad-hoc sub-process to be a list.")
    elif len(known.value) + len(output) > MAX_LOOP_CHARACTERS:
        raise Fail(FAILURE, f"The list '{name}' would have more than {MAX_LOOP_CHARACTERS} characters of JSON.")
    else:
        yield AdHocOutputAdded(scope.key, name, output)


def _is_true(until: Expression, scope: Element, output: str | None, settings: AdHoc, view: View) -> bool:
    """The completion condition. It sees the collection with the new output."""
    extra = {}
    if output is not None and settings.output_name in until.variables:
        known = scope.variables.get(settings.output_name or "")
        extra[settings.output_name] = [*(() if known is None else known.decode()), from_json(output)]
    try:
        fulfilled: bool = view.expressions.typed(until, scope, bool, FAILURE, extra)
    except Fail as failure:
        raise Fail(FAILURE, f"Failed to evaluate completion condition. {failure.message}") from failure
    return fulfilled


def _output(scope: Element, settings: AdHoc, view: View) -> Effects:
    """The collection becomes a result. An inner instance of a loop keeps its own."""
    known = None if settings.output_name is None else scope.variables.get(settings.output_name)
    if known is not None and not scope.is_inner:
        yield set_in(owner_of(known.name, output_scope(scope)), known.name, known.value, view)
