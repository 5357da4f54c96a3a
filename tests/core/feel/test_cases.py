"""The shared conformance cases: each passes, or is listed in known_differences.json with the reason."""

import json
from pathlib import Path

import pytest

from tests.core.feel import case_format

KNOWN = Path(__file__).parent / "known_differences.json"


@pytest.mark.parametrize("suite", ["feel-scala", "dmn-tck"])
def test_all_cases_pass_but_for_the_known_differences(suite):
    path = case_format.cases_directory() / f"{suite}.json"
    if not path.exists():
        pytest.skip(f"no cases: {path} is not there, VIVERO_CASES names another directory")
    cases = case_format.load(path)
    labels = {case.label for case in cases}
    known = {label for entry in json.loads(KNOWN.read_text()) for label in entry["cases"]} & labels
    outcomes = [case_format.run(case) for case in cases]
    failed = {outcome.case.label: outcome.found for outcome in outcomes if not outcome.passed}
    assert len(labels) == len(cases), "labels of cases are not unique"
    assert {label: found for label, found in failed.items() if label not in known} == {}
    assert known - failed.keys() == set(), "listed as different, but passes"


def test_every_known_difference_has_a_reason():
    for entry in json.loads(KNOWN.read_text()):
        assert len(entry["reason"]) > 40
        assert entry["cases"]
