"""Words for ad-hoc sub-processes: `h` with the tasks A, B and C, requests, and the order in which elements end."""

from tests.core.engine import raw
from tests.core.event_models import ad_hoc
from tests.core.message_models import model
from tests.core.models import end, start, task
from vivero.core.records.ad_hoc import ActivateAdHocElements, AdHocResult, ElementToActivate
from vivero.core.records.instances import ElementActivating, ElementCompleted, ElementTerminated
from vivero.core.records.jobs import CompleteJob


def tools(*parts, beside=(), **settings):
    """The ad-hoc sub-process `h` with the tasks A, B and C."""
    scope = ad_hoc("h", task("A"), task("B"), task("C"), *parts, **settings)
    return model(start(), scope, *beside, end(), "start > h > end")


def activate(engine, *elements, scope="h", cancel=False, key=None):
    """Activate elements: ids, or pairs of an id and variables."""
    return engine.run(ActivateAdHocElements(key or engine.element(scope).key, wanted(elements), cancel))


def wanted(elements):
    given = (one if isinstance(one, tuple) else (one, {}) for one in elements)
    return tuple(ElementToActivate(id, raw(variables)) for id, variables in given)


def decide(engine, *elements, fulfilled=False, cancel=False, scope="h", **variables):
    """Complete the job of an ad-hoc sub-process with a result."""
    result = AdHocResult(wanted(elements), fulfilled, cancel)
    return engine.run(CompleteJob(engine.job(scope).key, raw(variables), result=result))


def ends(engine, *left_out):
    """The elements in the order in which they ended, terminated ones with a minus; not the process."""
    found, of = [], {}
    for logged in engine.memory.log:
        for handled in logged.handled:
            for event in handled.events:
                if isinstance(event, ElementActivating):
                    of[event.key] = event.element
                if isinstance(event, ElementCompleted | ElementTerminated):
                    sign = "-" if isinstance(event, ElementTerminated) else ""
                    found.append(sign + of.get(event.key, ""))
    return [one for one in found if one.lstrip("-") not in ("", "start", "end", "h#innerInstance", *left_out)]


def inner(engine):
    return [element for element in engine.state.elements.values() if element.element == "h#innerInstance"]


def rejected(handled, code, *texts):
    assert handled.rejection is not None
    assert handled.rejection.code is code
    for text in texts:
        assert text in handled.rejection.reason
