"""The views for people: models in any encoding, words instead of numbers, and no row that its reader must not see."""

import re
from pathlib import Path

import psycopg
import pytest

from tests.api.rows import KEY, NOW, Rows
from tests.storage.test_row_security import filled as filled  # a fixture
from tests.two_tenants import fill
from vivero.storage.access import row_security
from vivero.storage.access.policies import VIEWS

PAGE = Path(__file__).parents[2] / "docs" / "schema.md"
READABLE = ("process_definitions_view", "process_instances_view", "timers_view", "command_log_view")
HIDDEN = ("idempotency_keys_view", "engine_state")


@pytest.fixture(scope="module")
def sql(module_database):
    with psycopg.connect(module_database, autocommit=True) as connection:
        yield connection


def text_of(sql, document):
    return sql.execute("SELECT xml_text(%s)", [document]).fetchone()[0]


@pytest.mark.parametrize(
    ("declared", "encoding", "letters"),
    [
        (None, "utf-8", "ü → 😀"),
        ("UTF-8", "utf-8", "ü → 😀"),
        ("utf-8", "utf-8-sig", "ü"),
        ("UTF-16", "utf-16", "ü → 😀"),
        ("UTF-16", "utf-16-le", "ü 😀"),
        ("UTF-16", "utf-16-be", "ü 😀"),
        (None, "utf-16", "Größe"),
        ("ISO-8859-1", "latin-1", "Größe"),
        ("iso-8859-15", "iso-8859-15", "€"),
        ("windows-1252", "cp1252", "„€“"),
        ("US-ASCII", "ascii", "a"),
        ("Shift_JIS", "shift_jis", "注文"),
        ("EUC-JP", "euc_jp", "注文"),
        ("GB18030", "gb18030", "订单"),
        ("Big5", "big5", "訂單"),
        ("KOI8-R", "koi8_r", "заказ"),
    ],
)
def test_a_model_in_any_encoding(sql, declared, encoding, letters):
    attribute = "" if declared is None else f' encoding="{declared}"'
    model = f'<?xml version="1.0"{attribute}?>\n<definitions name="{letters}"/>'
    assert text_of(sql, model.encode(encoding)) == model


@pytest.mark.parametrize(
    ("document", "text"),
    [
        (b"", ""),
        (b"\xff", "ÿ"),
        (b"\xff\xfe", None),
        (b'<?xml encoding="klingon"?>\xfc', '<?xml encoding="klingon"?>ü'),
        (b'<?xml encoding="UTF-8"?>\xfc', '<?xml encoding="UTF-8"?>ü'),
        (b"a\0b", "a\\000b"),
        (b"\xff\xfe\x00\xd8a\x00", "\ufffda"),
        (b"\xff\xfea", None),
        ("<?xml?>".encode("utf-32"), None),
        ("<?xml?>".encode("cp037"), None),
    ],
)
def test_nothing_makes_it_fail(sql, document, text):
    found = text_of(sql, document)
    assert found == text or text is None


def test_words_and_times_instead_of_numbers(database):
    with psycopg.connect(database, autocommit=True) as sql:
        rows = Rows(sql)
        fill(rows, KEY, "a")
        sql.execute("UPDATE process_instances SET incidents = 1 WHERE ended_at IS NULL")
        states = sql.execute("SELECT state FROM process_instances_view ORDER BY process_instance_key").fetchall()
        assert states == [("INCIDENT",), ("COMPLETED",)]
        sql.execute(
            "UPDATE process_instances SET suspended_at = %s, suspended_reason = 'why' WHERE ended_at IS NULL", [NOW]
        )
        shown = "state, suspended_at = %s, suspended_reason"
        found = sql.execute(f"SELECT {shown} FROM process_instances_view ORDER BY process_instance_key LIMIT 1", [NOW])
        assert found.fetchone() == ("SUSPENDED", True, "why"), "with incidents, too"
        model = sql.execute("SELECT bpmn_process_id, bpmn_xml, version FROM process_definitions_view").fetchone()
        assert model == ("process-of-a", "<xml/>", 1)
        ((payload, processed),) = sql.execute(
            "SELECT payload IS NOT NULL, processed_at IS NOT NULL FROM command_log_view ORDER BY position LIMIT 1"
        ).fetchall()
        assert payload
        assert processed


@pytest.mark.parametrize(
    ("repetitions", "cycle", "shown"),
    [
        (1, None, (None, None)),
        (3, '["R3/PT10S", "UTC", 0, 1]', (3, 10_000)),
        (-1, '["R/P1DT2H", "UTC", 0, 1]', (-1, 93_600_000)),
        (-1, '["R/PT1.5S", "UTC", 0, 1]', (-1, 1_500)),
        (-1, '["R/P1M", "UTC", 0, 1]', (-1, None)),
        (-1, '["R/PT99999999999H", "UTC", 0, 1]', (-1, None)),
        (-1, '["0 0 9 * * *", "UTC", 0, 1]', (-1, None)),
    ],
)
def test_timers(database, repetitions, cycle, shown):
    with psycopg.connect(database, autocommit=True) as sql:
        fill(Rows(sql), KEY, "a")
        sql.execute("UPDATE timers SET repetitions = %s, cycle = %s, due_at_ms = 1500", [repetitions, cycle])
        found = sql.execute(
            "SELECT repetitions, interval_ms, extract(epoch FROM due_date)::float8, timer_type, state FROM timers_view"
        ).fetchone()
    assert found == (*shown, 1.5, "INTERMEDIATE", "PENDING")


def test_keys_and_cursors(database):
    with psycopg.connect(database, autocommit=True) as sql:
        fill(Rows(sql), KEY, "a")
        position = sql.execute("SELECT position FROM command_log ORDER BY position LIMIT 1").fetchone()[0]
        sql.execute(
            "INSERT INTO idempotency_keys VALUES ('a', 'k', '', %s, %s), ('a', 'waits', '', NULL, %s)",
            [position, NOW, NOW],
        )
        found = sql.execute("SELECT key, command_position, created_at IS NULL FROM idempotency_keys_view ORDER BY key")
        assert found.fetchall() == [("k", position, False), ("waits", None, True)]
        assert sql.execute("SELECT instance_id, partition_id FROM engine_state").fetchall() == [(None, 1)]


def test_every_view_has_the_rights_of_its_reader(sql):
    found = sql.execute(
        "SELECT relname FROM pg_class WHERE relkind = 'v' AND relnamespace = current_schema::regnamespace"
        " AND NOT coalesce(reloptions @> '{security_invoker=true}', false)"
    )
    assert found.fetchall() == []


def test_the_second_role_reads_only_what_row_security_protects(filled):
    assert set(READABLE) <= set(VIEWS)
    with psycopg.connect(row_security.reader_of(filled), autocommit=True) as reader:
        for view in READABLE:
            assert reader.execute(f"SELECT count(*) FROM {view}").fetchone() == (0,)
        for view in HIDDEN:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                reader.execute(f"SELECT * FROM {view}")


def test_the_page_names_every_column(sql):
    documented = dict(re.findall(r"^\| `(\w+)` \| ((?:`\w+`(?:, )?)+) \|$", PAGE.read_text(), re.MULTILINE))
    for view in (*READABLE, *HIDDEN):
        found = sql.execute(
            "SELECT column_name FROM information_schema.columns WHERE table_name = %s ORDER BY ordinal_position", [view]
        )
        assert documented[view] == ", ".join(f"`{name}`" for (name,) in found)
