"""The decision models of the DMN TCK that are given."""

import pytest

from tests.core.dmn import tck


@pytest.fixture(scope="module", autouse=True)
def given():
    if not tck.path().exists():
        pytest.skip(f"no cases: {tck.path()} is not there, VIVERO_CASES names another directory")


def test_all_official_cases_pass():
    official = [outcome for outcome in tck.outcomes() if outcome.official]
    assert [f"{each.label}: {each.found}" for each in official if not each.passed] == []
    assert len(official) > 1600


def test_what_camundas_engine_passes_passes_in_its_mode():
    camundas = [each for each in tck.outcomes("camunda") if each.official and each.by_camunda]
    assert [f"{each.label}: {each.found}" for each in camundas if not each.passed] == []
    assert len(camundas) > 1300
