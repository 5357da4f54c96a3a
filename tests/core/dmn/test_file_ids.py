"""The id by which a deployed file of decisions is known: its own, or the name of the file."""

import pytest

from tests.core.dmn.models import decision, definitions, literal
from vivero.api.deployment.problems import examine
from vivero.core.bpmn.reading.xml import LIMITS
from vivero.core.memory import InvalidDeployment, MemoryEngine
from vivero.core.resources.kinds import read_resources

FILE = definitions(decision("d", literal("1")))
WITHOUT = b' id="file" name="file"'
NAMELESS = FILE.replace(WITHOUT, b"", 1)


def read(name, content=NAMELESS):
    (parsed,) = read_resources({name: content})
    return parsed


@pytest.mark.parametrize(
    ("name", "id"),
    [
        ("rates.dmn", "rates"),
        ("2026 rates (new).dmn", "_2026_rates__new_"),
        ("finance/préstamos.dmn", "finance_préstamos"),
        (".dmn", "_"),
        ("a.b-c_d.dmn", "a.b-c_d"),
        (f"{'x' * 300}.dmn", "x" * LIMITS.id_length),
    ],
)
def test_a_file_without_an_id_is_known_by_its_name(name, id):
    parsed = read(name)
    assert parsed.deployment_problems == ()
    assert (parsed.decisions.id, parsed.decisions.name) == (id, id)
    (warning,) = parsed.warnings
    assert warning.message.startswith("definitions has no id: the file is known as '")


def test_a_file_with_an_id_is_known_by_it():
    parsed = read("rates.dmn", FILE)
    assert (parsed.decisions.id, parsed.warnings) == ("file", ())
    (problem,) = read("rates.dmn", FILE.replace(b'id="file"', b'id="a b"')).deployment_problems
    assert problem.message.startswith("'a b' is not an id: ")


def test_two_files_of_one_name_are_refused_with_the_id_that_both_have():
    """Also if they are in one deployment: a label of the second one must not become its id."""
    other = definitions(decision("e", literal("1"))).replace(WITHOUT, b"", 1)
    found = examine([("rates.dmn", NAMELESS), ("rates.dmn", other)], LIMITS)
    assert found.problems == (
        "Expected the decision requirements ids to be unique within a deployment but found a duplicated id 'rates' in"
        " the resources 'rates.dmn' and '(2) rates.dmn'.",
    )


@pytest.mark.parametrize("name", ["a/rates.dmn", "rates.dmn"])
def test_the_memory_engine_refuses_what_a_deployment_refuses(name):
    """Files are refused for what is wrong among them."""
    again = {"other.dmn": FILE, name: definitions(decision("d", literal("2")))}
    with pytest.raises(InvalidDeployment, match=f"duplicated id 'd' in the resources 'other.dmn' and '{name}'"):
        MemoryEngine().deploy_all(again)


def test_two_files_are_known_by_two_ids():
    other = definitions(decision("e", literal("1"))).replace(WITHOUT, b"", 1)
    first, second = read_resources({"one.dmn": NAMELESS, "two.dmn": other})
    assert (first.decisions.id, second.decisions.id) == ("one", "two")
