"""The id by which a deployed file of decisions is known: its own, or the name of the file."""

import pytest

from tests.core.dmn.models import decision, definitions, literal
from vivero.core.bpmn.reading.xml import LIMITS
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


def test_two_files_are_known_by_two_ids():
    other = definitions(decision("e", literal("1"))).replace(WITHOUT, b"", 1)
    first, second = read_resources({"one.dmn": NAMELESS, "two.dmn": other})
    assert (first.decisions.id, second.decisions.id) == ("one", "two")
