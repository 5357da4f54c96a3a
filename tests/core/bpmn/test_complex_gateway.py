"""Complex gateways: activation conditions, what is refused, and what is warned about."""

import pytest

from tests.core.event_models import complex_gateway, model
from tests.core.models import end, flow, par, start, task
from vivero.core.bpmn.model import ConditionalEvent
from vivero.core.resources.kinds import read_resource

JOIN = (start(), par("f"), task("a"), task("b"), "start > f > a > g", "f > b > g")


def read(*parts):
    return read_resource("p.bpmn", model(*parts))


def node(*parts, id="g"):
    return read(*parts).processes[0].nodes[id]


def test_a_gateway_knows_its_condition_and_joins_by_paths():
    parts = (*JOIN, complex_gateway("g", "=activationCount > 1"), end(), "g > end")
    gateway = node(*parts)
    assert gateway.activation.variables == {"activationCount"}
    assert (gateway.event, gateway.conditional) == (None, False)
    assert gateway.bits == {"a-g": 1, "b-g": 2}
    assert gateway.reach["f"] == 3
    assert node(*parts, id="p").joins == ("g",)


def test_a_condition_that_depends_on_variables_watches_them():
    watched = node(*JOIN, complex_gateway("g", "=enough or activationCount = 2 and waitingForStart")).event
    assert isinstance(watched, ConditionalEvent)
    assert watched.variables == {"enough"}


def test_without_a_condition_it_forks():
    parts = (task("a"), task("b"), "start > g > a", flow("g", "b", "=x"))
    gateway = node(start(), complex_gateway("g", default="g-a"), *parts)
    assert (gateway.activation, gateway.conditional, gateway.default) == (None, True, "g-a")


def test_a_condition_without_incoming_flows():
    """A token never reaches it. The file was a bug of the parser, not one of the model."""
    gateway = complex_gateway("g", "=activationCount > 1")
    lonely = node(start(), task("a"), gateway, task("b"), "start > a", "g > b")
    assert (lonely.incoming, lonely.bits) == ((), {})


def problems(*parts):
    return [(one.element_id, one.message) for one in read(*parts).problems]


@pytest.mark.parametrize(
    ("gateway", "message"),
    [
        (complex_gateway("g"), "needs an activationCondition: it has several incoming flows"),
        (complex_gateway("g", "true"), "activationCondition: 'true' is not an expression: '=' and FEEL behind it"),
        (complex_gateway("g", ""), "activationCondition: '' is not an expression: '=' and FEEL behind it"),
        (
            complex_gateway("g", "=true").replace("</c", "<activationCondition>=false</activationCondition></c"),
            "has more than one activationCondition",
        ),
        (complex_gateway("g", "=true", default="x"), "the default flow 'x' does not leave this element"),
    ],
)
def test_what_is_refused(gateway, message):
    assert problems(*JOIN, gateway) == [("g", message)]


def test_all_problems_come_at_once_with_their_lines():
    wrong = [f"<!-- a line -->\n{complex_gateway(id, text)}" for id, text in (("g", "=1 +"), ("h", "true"))]
    found = read(*JOIN, *wrong, "g > h").problems
    lines = [(one.element_id, one.line) for one in found]
    assert [element for element, _ in lines] == ["g", "h"]
    assert lines[0][1] < lines[1][1]


def test_a_condition_that_does_not_know_the_phase_is_warned_of():
    parts = (*JOIN, complex_gateway("g", "=activationCount > 0"), task("x"), task("y"))
    ways = (flow("g", "x", "=n > 1"), flow("g", "y", "=waitingForStart and n > 1"))
    assert [(one.element_id, one.message) for one in read(*parts, *ways).warnings] == [
        (
            "g-x",
            "its condition does not depend on waitingForStart: if it stays true, the flow gets a token when the "
            "gateway 'g' starts, and another one when it resets",
        )
    ]


def test_it_has_no_end_listeners():
    listener = (
        '<zeebe:executionListeners><zeebe:executionListener eventType="end" type="t"/></zeebe:executionListeners>'
    )
    gateway = complex_gateway("g", "=true").replace("<act", f"<extensionElements>{listener}</extensionElements><act")
    text = "zeebe:executionListener: a gateway has no end listeners; what follows it can have start listeners"
    assert problems(*JOIN, gateway) == [("g", text)]
