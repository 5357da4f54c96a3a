"""Deaths of the embedded server are counted over its supervisors."""

import pytest

from vivero.embedded.deaths import Deaths
from vivero.embedded.errors import GivenUp


@pytest.fixture
def at(tmp_path):
    """Deaths as a supervisor that begins at a moment knows them."""
    return lambda moment: Deaths(tmp_path / "deaths", lambda: moment)


def test_the_sixth_death_within_a_minute_is_one_too_many(at):
    for moment in range(5):
        at(1_000.0 + moment).record()
    with pytest.raises(GivenUp, match=r"died 6 times in 60 s and is not restarted for 5\d s: .*server.log"):
        at(1_010.0).record()
    with pytest.raises(GivenUp):
        at(1_059.0).check()
    at(1_061.0).check()


def test_deaths_before_the_machine_was_started_do_not_count(at):
    for moment in range(6):
        try:
            at(1_000_000.0 + moment).record()
        except GivenUp:
            continue
    at(30.0).check()


@pytest.mark.parametrize("content", ["", "{", "{}", "null"])
def test_a_damaged_file_counts_for_nothing(tmp_path, at, content):
    (tmp_path / "deaths").write_text(content)
    at(5.0).check()
    at(5.0).record()
