"""docs/troubleshooting.md has each type of an incident and each title of a problem that the code has, and no other."""

import re

from tests.operations.tools import ROOT
from vivero.api.http.problems import NOT_APPENDED, REJECTIONS
from vivero.api.http1.problems import TITLES
from vivero.core.records.effects import IncidentType

PAGE = (ROOT / "docs" / "troubleshooting.md").read_text()
RAISED = re.compile(r"\b(?:Problem|problem)\(\s*(\d{3}),\s*\"([^\"]+)\"")


def section(title):
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_every_type_of_an_incident_is_there():
    assert set(re.findall(r"^- `([A-Z_]+)`: ", section("Incidents"), re.MULTILINE)) == set(IncidentType)


def raised():
    """Status and title of each problem in the code."""
    code = "\n".join(path.read_text() for name in ("api", "vivero") for path in sorted((ROOT / name).rglob("*.py")))
    found = {(int(status), title) for status, title in RAISED.findall(code)}
    assert len(found) > 15
    return found | set(TITLES.items()) | set(REJECTIONS.values()) | set(NOT_APPENDED.values())


def test_every_title_of_a_problem_is_there():
    rows = re.findall(r"^- (\d{3}) `(.+?)`: ", section("A request is refused"), re.MULTILINE)
    listed = {(int(status), title) for status, title in rows}
    assert len(listed) == len(rows)
    assert listed == raised()
