"""The actor of a command in the audit log."""

from vivero.cli.shared.recorded import record


def test_a_user_name_of_any_bytes_is_recorded(monkeypatch):
    monkeypatch.setenv("LOGNAME", "ann\udcff")
    assert record("user add", "USER", "CREATE", "bob").actor_id == "ann?"
