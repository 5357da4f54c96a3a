"""Decisions in a program and in tests: `DecisionModels`, the fixture `decisions`, files of cases."""

import re
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from tests.core.dmn.models import decision, definitions, literal
from vivero.library import DecisionFailed, DecisionModels, InvalidModel
from vivero.testing.decisions import DecisionTests

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "decisions"


def test_a_program_evaluates_decisions():
    models = DecisionModels.read(EXAMPLE / "discount.dmn")
    assert models.names() == ["Discount", "Price"]
    assert models.evaluate("Price", {"total": 200, "customer": "gold"}) == 180
    explained = models.explain("price", {"total": 50, "customer": "gold"})
    assert [[each.rule for each in result.matched] for result in explained.decisions] == [[0], []]
    with pytest.raises(KeyError, match="there are Discount, Price"):
        models.evaluate("Prize", {})


def test_problems_and_failures():
    with pytest.raises(InvalidModel, match="failed to parse"):
        DecisionModels({"f.dmn": definitions(decision("d", literal("1 +")))})
    models = DecisionModels({"f.dmn": definitions(decision("d", literal('assert(1, false, "no")')))}, "camunda")
    with pytest.raises(DecisionFailed, match=r"Expected to evaluate decision 'd', but .*no"):
        models.evaluate("d", {})


def test_the_time_is_given():
    models = DecisionModels({"f.dmn": definitions(decision("d", literal("string(today())")))})
    assert models.evaluate("d", {}, now=datetime(2026, 5, 1, tzinfo=UTC)) == "2026-05-01"
    with pytest.raises(ValueError, match="has no time zone"):
        models.evaluate("d", {}, now=datetime(2026, 5, 1))


@pytest.fixture
def kit(tmp_path):
    shutil.copy(EXAMPLE / "discount.dmn", tmp_path)
    return DecisionTests((tmp_path,)).use("discount.dmn")


@pytest.fixture
def check(kit, tmp_path):
    def write(text):
        (tmp_path / "cases.csv").write_text(text, encoding="utf-8")
        kit.check("cases.csv")

    return write


def test_a_kit_evaluates(kit):
    assert kit.evaluate("Discount", total=200, customer="silver") == Decimal("0.05")


def test_cases_that_hold(check):
    check('total, customer, =Discount, =price\n50,"""gold""",0.0,50\n[200],gold,0.1,180\n,gold,null,\n')


def test_every_difference_is_shown(check):
    with pytest.raises(AssertionError) as failed:
        check("total,customer,=Discount\n50,gold,0\n200,gold,0.2\n200,silver,true\n")
    assert str(failed.value).splitlines() == [
        "2 results differ in cases.csv:",
        "line 3: Discount is 0.1 instead of 0.2",
        "line 4: Discount is 0.05 instead of true",
    ]


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("total,customer\n1,2\n", ValueError, "no column of expected results"),
        ("total,=Discount\n1\n", ValueError, "line 2: the line has not as many cells as the header"),
        ('total,=Discount\n"[1",2\n', ValueError, "line 2: line 1, column 3: expected"),
        ("total,=Discount\n", AssertionError, "has no cases"),
    ],
)
def test_faulty_files_of_cases(check, text, error, message):
    with pytest.raises(error, match=message):
        check(text)


def test_a_kit_without_decisions(tmp_path):
    with pytest.raises(LookupError, match="call `use`"):
        DecisionTests((tmp_path,)).evaluate("d")
    with pytest.raises(FileNotFoundError, match=r"There is no file nowhere\.dmn"):
        DecisionTests((tmp_path,)).use("nowhere.dmn")


def test_the_page_shows_what_the_example_does(monkeypatch):
    page = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8")
    program, test = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    *before, last = program.strip().splitlines()
    call, result = last.split("  # ")
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    exec("\n".join(before), names)
    assert eval(call, names) == Decimal(result)
    example = (EXAMPLE / "test_discounts.py").read_text(encoding="utf-8")
    assert test.strip() in re.sub(": Any| -> None", "", example)


def test_the_example_passes_with_the_fixture_of_the_plugin():
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(EXAMPLE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stdout
