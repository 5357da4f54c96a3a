"""The map from SQLSTATE to what is to be done."""

import pytest

from vivero.storage.postgres import errors
from vivero.storage.postgres.errors import (
    Conflict,
    ConnectFailed,
    ConnectionLost,
    DataPoison,
    DeadlineExceeded,
    Diagnosis,
    LeaseTaken,
    Outage,
    Retry,
    SteppedDown,
    StorageBug,
    StorageError,
    from_server,
    kind_of,
)


@pytest.mark.parametrize(
    ("sqlstate", "kind"),
    [
        ("VV001", SteppedDown),
        ("40001", Conflict),
        ("40P01", Conflict),
        ("55P03", Conflict),
        ("57014", Conflict),
        ("26000", Conflict),
        ("08000", ConnectionLost),
        ("08006", ConnectionLost),
        ("57P01", ConnectionLost),
        ("57P02", ConnectionLost),
        ("57P03", ConnectionLost),
        ("57P05", ConnectionLost),
        ("25P03", ConnectionLost),
        ("25P04", ConnectionLost),
        ("53100", Outage),
        ("53200", Outage),
        ("53300", Outage),
        ("25006", Outage),
        ("58030", Outage),
        ("22P05", DataPoison),
        ("22P02", DataPoison),
        ("22003", DataPoison),
        ("23505", DataPoison),
        ("54000", DataPoison),
        ("42P01", Outage),
        ("42501", StorageBug),
        ("25P02", StorageBug),
        ("25001", StorageBug),
        ("55000", StorageBug),
        ("0A000", StorageBug),
        ("P0001", StorageBug),
        ("XX000", StorageBug),
        ("VV002", Retry),
        ("VV003", LeaseTaken),
        ("VV004", StorageBug),
    ],
)
def test_kind_of_a_sqlstate(sqlstate, kind):
    assert kind_of(sqlstate) is kind


@pytest.mark.parametrize("sqlstate", [None, ""])
def test_an_error_that_libpq_made_itself_is_a_lost_connection(sqlstate):
    assert kind_of(sqlstate) is ConnectionLost


def test_every_entry_of_the_table_is_reachable():
    for state, kind in errors.SQLSTATES.items():
        assert kind_of(state.ljust(5, "X")) is kind


def test_what_is_worth_another_try_and_what_is_not():
    assert issubclass(Conflict, Retry)
    assert issubclass(DeadlineExceeded, ConnectionLost)
    assert issubclass(ConnectionLost, Retry)
    for kind in (SteppedDown, Outage, ConnectFailed, DataPoison, StorageBug):
        assert issubclass(kind, StorageError)
        assert not issubclass(kind, Retry)


def test_only_a_lost_connection_leaves_doubt():
    for state, doubt in {"57P01": True, "08006": True, "40001": False, "23505": False, "53100": False}.items():
        error = from_server("m", Diagnosis(state), statement="s", index=None)
        assert error.in_doubt is doubt, state


def test_an_outdated_plan_is_told_from_a_missing_feature_by_where_it_was_raised():
    diagnosis = Diagnosis("0A000")
    outdated = from_server("cached plan …", diagnosis, statement="s", index=None, routine="RevalidateCachedQuery")
    assert type(outdated) is Conflict
    assert type(from_server("…", diagnosis, statement="s", index=None, routine="other")) is StorageBug


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (StorageBug("no such table", Diagnosis("42P01"), statement="load"), "load: no such table [42P01]"),
        (
            DataPoison("duplicate", Diagnosis("23505", detail="Key (n)=(1)"), statement="save", index=3),
            "save (statement 3 of the pipeline): duplicate [23505]: Key (n)=(1)",
        ),
        (DataPoison("NUL", index=0), "(statement 0 of the pipeline): NUL"),
        (ConnectFailed("refused"), "refused"),
    ],
)
def test_the_message_names_statement_place_state_and_detail(error, text):
    assert str(error) == text
