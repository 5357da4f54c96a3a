"""The sources of secrets."""

import random
import re

import pytest
import trio

from vivero.core.bpmn.reading.secret_references import named_in
from vivero.engine.connectors.settings import ConnectorSettings
from vivero.engine.connectors.work import secrets
from vivero.engine.connectors.work.secrets import BadSecrets, UsedSecrets


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


@pytest.mark.parametrize("offset", range(-9, 3))
async def test_a_secret_between_two_pieces_of_a_file_is_masked(monkeypatch, offset):
    monkeypatch.setattr(secrets, "MASKED_BYTES", 100)
    used = UsedSecrets({"A": "abcd", "B": "abcdefgh"})
    used.resolve("{{secrets.A}}{{secrets.B}}")
    before, after = b"-" * (100 + offset), b"abc" + b"-" * 300
    assert await used.mask_file(before + b"abcdefgh" + after) == before + b"***" + after


async def test_random_files_are_masked_in_pieces_as_they_are_whole(monkeypatch, seed):
    choose = random.Random(seed)
    for _ in range(200):
        monkeypatch.setattr(secrets, "MASKED_BYTES", choose.randint(1, 12))
        texts = {f"S{n}": "".join(choose.choices("ab", k=choose.randint(3, 8))) for n in range(3)}
        content = "".join(choose.choices("ab", k=choose.randint(0, 80))).encode()
        used = UsedSecrets(texts)
        used.resolve("{{secrets.S0}}{{secrets.S1}}{{secrets.S2}}")
        longest_first = sorted(set(texts.values()), key=len, reverse=True)
        assert await used.mask_file(content) == re.sub("|".join(longest_first).encode(), b"***", content), texts


async def test_other_tasks_run_while_a_large_file_is_masked():
    used = UsedSecrets({"A": "abcd"})
    used.resolve("{{secrets.A}}")
    turns = []

    async def count():
        while True:
            turns.append(1)
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(count)
        await used.mask_file(bytes(10 * secrets.MASKED_BYTES))
        nursery.cancel_scope.cancel()
    assert len(turns) >= 9
