"""The sources of secrets."""

import pytest

from vivero.engine.connectors import secrets
from vivero.engine.connectors.secrets import BadSecrets, UsedSecrets, named_in
from vivero.engine.connectors.settings import ConnectorSettings


def test_the_file_precedes_the_environment(tmp_path):
    file = tmp_path / "secrets.toml"
    file.write_text('\ufeffA = "file"\nB = "b"\n', encoding="utf-8")
    found = secrets.load(file, "X_", {"X_A": "environment", "X_C": "c", "HOME": "/root"})
    assert found == {"A": "file", "B": "b", "C": "c"}


@pytest.mark.parametrize("text", ['A = "canary', "A = 5", None, b"\xff", f"A = {'5' * 5000}"])
def test_a_wrong_file_is_told_without_its_content(tmp_path, text):
    file = tmp_path / "secrets.toml"
    if text is not None:
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(BadSecrets, match=r"secrets\.toml") as raised:
        secrets.load(file, "X_", {})
    assert "canary" not in str(raised.value)


def test_an_empty_prefix_is_rejected():
    with pytest.raises(ValueError, match="every variable"):
        ConnectorSettings(secret_prefix="")


def test_names_in_texts():
    assert named_in(('"{{secrets.A}}" + x', "{{ secrets.B_2 }}{{secrets.C}}", "secrets.D {{secrets.}}")) == {
        *("A", "B_2", "C"),
    }


def test_short_secrets_do_not_mask_everything():
    used = UsedSecrets({"A": "1"})
    assert used.resolve("{{secrets.A}}") == "1"
    assert used.mask({"a": "11 apples"}) == {"a": "11 apples"}
