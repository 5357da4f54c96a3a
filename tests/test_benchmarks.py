"""The runner of the benchmarks: lines of JSON, comparisons, and failures."""

import importlib
import inspect
import json
import re
import runpy
import sys
from types import SimpleNamespace

import pytest

from benchmarks import __main__ as engine
from benchmarks import budget, http_client, replay, size
from benchmarks.bytecodes import PACKAGES, Bytecodes
from benchmarks.capacity import BUSY, Costs, projection
from benchmarks.given import commands_per_s, header
from benchmarks.model import ONE_TASK
from vivero import logs
from vivero.core.bpmn.parser import parse
from vivero.storage.postgres.sql_files import Statement


@pytest.fixture
def benchmarks(monkeypatch):
    """Fake benchmarks: each name stands for what its `run` does."""

    def play(**runs):
        monkeypatch.setattr(logs, "configure", lambda *_: None)  # it would keep this test's stderr for the others
        monkeypatch.setattr(engine, "USUAL", tuple(runs))
        for name, run in runs.items():
            monkeypatch.setitem(sys.modules, f"benchmarks.{name}", SimpleNamespace(run=run))

    return play


def _breaks():
    raise RuntimeError("the machine is too busy")


def test_benchmarks_print_a_line_of_json_each_and_one_that_fails_stops_no_other(benchmarks, capsys):
    benchmarks(first=lambda: ({"per_s": 2.0}, {}), broken=_breaks, last=lambda: ({"per_s": 3.0}, {"note": "n"}))
    assert engine.main([]) == ["broken"]
    said = capsys.readouterr()
    found = [json.loads(line) for line in said.out.splitlines()]
    assert [(line["benchmark"], line["figures"]) for line in found] == [("first", {"per_s": 2}), ("last", {"per_s": 3})]
    assert "RuntimeError: the machine is too busy" in said.err


@pytest.mark.parametrize(("run", "code"), [(lambda: ({"per_s": 2.0}, {}), None), (_breaks, "feel")])
@pytest.mark.usefixtures("capsys")
def test_the_exit_code_tells_whether_a_benchmark_failed(benchmarks, monkeypatch, run, code):
    """No text is no failure: `sys.exit` with an empty one ends with code 1."""
    benchmarks(feel=run)
    monkeypatch.setattr(sys, "argv", ["benchmarks", "feel"])
    monkeypatch.delitem(sys.modules, "benchmarks.__main__")
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("benchmarks", run_name="__main__")
    assert ended.value.code == code


def test_the_help_says_what_each_benchmark_measures(capsys):
    with pytest.raises(SystemExit):
        engine.main(["--help"])
    shown = dict(re.findall(r"^  (\w+) +([A-Z].+)$", capsys.readouterr().out, re.MULTILINE))
    assert set(engine.NAMES) <= set(shown)
    assert shown["capacity"].startswith("The cost of an instance in each part of the system")


def test_benchmarks_are_compared_with_an_earlier_run(benchmarks, tmp_path, capsys):
    earlier = tmp_path / "before.jsonl"
    earlier.write_text('{"benchmark": "first", "figures": {"per_s": 4.0}}\n')
    benchmarks(first=lambda: ({"per_s": 2.0}, {}))
    assert engine.main(["--compare", str(earlier)]) == []
    assert "0.50" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        engine.main(["--compare", str(tmp_path / "nowhere")])
    assert "cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize("name", engine.NAMES)
def test_every_benchmark_gives_figures_and_notes(name):
    run = importlib.import_module(f"benchmarks.{name}").run
    returned = inspect.signature(run).return_annotation
    assert (returned if isinstance(returned, str) else str(returned)) == "tuple[dict[str, float], dict[str, str]]"


def test_a_benchmark_that_does_not_exist_is_named(capsys):
    with pytest.raises(SystemExit):
        engine.main(["nonsense"])
    assert "there is no benchmark 'nonsense'" in capsys.readouterr().err


def test_a_given_server_is_measured_alone(benchmarks, monkeypatch, capsys):
    benchmarks(first=lambda: ({"per_s": 2.0}, {}))
    asked = []

    def measure(*given):
        asked.append(given)
        return {"commands_per_s": 9.0}, {}

    monkeypatch.setitem(sys.modules, "benchmarks.given", SimpleNamespace(run=measure))
    assert engine.main(["--url", "http://there:8080", "--seconds", "2"]) == []
    assert asked == [("http://there:8080", 2.0)]
    assert json.loads(capsys.readouterr().out)["figures"] == {"commands_per_s": 9.0}
    with pytest.raises(SystemExit):
        engine.main(["core", "--url", "http://there:8080"])


def test_commands_are_creations_and_completions():
    assert commands_per_s({"created_per_s": 70.0, "instances_per_s": 60.0}) == 130


@pytest.mark.parametrize(
    ("credentials", "value"), [(None, ""), ("", ""), ("vivero_x", "Bearer vivero_x"), (("a", "b"), "Basic YTpi")]
)
def test_the_credentials_of_a_given_server(credentials, value):
    assert header(credentials) == value


def test_requests_name_the_given_server(monkeypatch):
    monkeypatch.setenv(http_client.URL, "https://vivero.example:8443/engine")
    assert http_client.post("/jobs/1/completion", b"{}").startswith(
        b"POST /engine/v2/jobs/1/completion HTTP/1.1\r\nHost: vivero.example:8443\r\n"
    )
    monkeypatch.setenv(http_client.URL, "")
    assert b"POST /v2/x HTTP/1.1\r\nHost: localhost\r\n" in http_client.post("/x", b"")


def test_capacity_divides_the_cores_by_what_each_part_costs():
    figures = projection(Costs(300.0, 200.0, 250.0, 10_000.0, 0.05))
    assert figures["with_16_cores_instances_per_s"] == pytest.approx(16 * BUSY * 2_000)
    assert figures["with_16_cores_node_cores"] == pytest.approx(16)
    assert figures["with_16_cores_postgresql_cores"] == pytest.approx(8)
    assert figures["for_86000_per_s_partitions"] == pytest.approx(86_000 * 200e-6 / BUSY)
    assert figures["for_86000_per_s_wal_mb_per_s"] == pytest.approx(860)
    assert figures["for_86000_per_s_flushes_per_s"] == pytest.approx(4_300)


def test_a_count_beyond_the_record_is_a_failure_that_names_it():
    python = budget.version_of("core_bytecodes", "18.4")
    record = {python: {"core_bytecodes": 100.0}, "PostgreSQL 18": {"statements": 0.5, "rows_deleted": 0.0}}
    figures = {"core_bytecodes": 101.9, "statements": 0.5, "rows_deleted": 0.0}
    assert budget.grown(figures, record, "18.4") == []
    (sentence,) = budget.grown(figures | {"core_bytecodes": 103.0}, record, "18.4")
    assert sentence == "core_bytecodes has grown from 100.00 to 103.00 an instance (1.030)"
    (sentence,) = budget.grown(figures | {"rows_deleted": 1.0}, record, "18.4")
    assert sentence == "rows_deleted has grown from 0.00 to 1.00 an instance"
    assert budget.grown(figures | {"statements": 9.0}, record, "19.1") == [], "nothing is recorded for this version"


def test_the_record_has_each_count_of_this_python():
    record = json.loads(budget.RECORD.read_text(encoding="utf-8"))
    counts = {name for figures in record.values() for name in figures}
    assert counts >= {"statements", "rows_inserted", "wal_bytes", *(f"{name}_bytecodes" for name in PACKAGES)}


def test_the_size_of_the_program_is_compared_with_its_record():
    record = {"packages": 66, "modules": 1000, "wheel_bytes": 100}
    assert size.grown({"packages": 66, "modules": 1050, "wheel_bytes": 110, "new": 9}, record) == []
    assert size.grown({"packages": 67, "modules": 1051}, record) == [
        "packages has grown from 66 to 67",
        "modules has grown from 1,000 to 1,051",
    ]
    head = "import time: self [us] | cumulative | imported package\n"
    lines = (
        "import time:       210 |        210 |   zipimport\nimport time:  1 | 2 |     vivero.cli\na line of the log\n"
    )
    assert size.imported(head + lines + lines) == {"modules": 2, "own_modules": 1}
    records = json.loads(size.RECORD.read_text())
    assert records.keys() >= {"Python 3.11", "Python 3.12", "Python 3.13"}
    assert all(kept["modules"] > kept["own_modules"] > 500 for kept in records.values())
    assert records[size.VERSION]["packages"] == size.installed(size.ROOT / "requirements" / "program.txt")["packages"]


def test_bytecodes_are_counted_by_package():
    """A call of the core counts there and nowhere else, the same number each time."""
    bytecodes = Bytecodes()
    parse(ONE_TASK, "one_task.bpmn")  # some names of a model are read once in a process
    counts = []
    for _ in range(2):
        with bytecodes.counted():
            json.dumps({})
            Costs(1, 1, 1, 1, 1)
            parse(ONE_TASK, "one_task.bpmn")
        counts.append(dict(bytecodes.counts))
    assert counts[0].keys() == {"core"}
    assert counts[1] == {"core": 2 * counts[0]["core"]}
    head, *lines = bytecodes.table(2, 1000)
    assert head.endswith("function")
    assert sum(float(line.split()[0].replace(",", "")) for line in lines) == pytest.approx(counts[0]["core"], abs=5)
    assert {line.split()[2].partition("/")[0] for line in lines} == {"core"}
    assert bytecodes.calls_of("core/bpmn/parser.py parse") == 2
    bytecodes.clear()
    assert not bytecodes.counts


def test_new_counts_are_accepted_by_recording_them(monkeypatch, tmp_path, capsys):
    figures = {"core_bytecodes": 100.0, "rows_deleted": 0.0}
    monkeypatch.setattr(budget, "run", lambda _functions: (figures, {"server_version": "18.4"}))
    monkeypatch.setattr(budget, "RECORD", tmp_path / "budget.json")
    monkeypatch.setattr(logs, "configure", lambda *_: None)  # it would keep this test's stderr for the others
    budget.RECORD.write_text("{}")
    assert budget.main([]) == 0, "nothing is recorded for these versions"
    assert budget.main(["--record"]) == 0
    assert budget.main([]) == 0
    figures["core_bytecodes"] = 110.0
    assert budget.main([]) == 1
    said = capsys.readouterr().out
    assert "core_bytecodes has grown from 100.00 to 110.00 an instance (1.100)" in said
    assert "make budget ARGS=--record" in said
    assert budget.main(["--record"]) == 0
    assert budget.main([]) == 0


def test_a_variant_of_the_replay_changes_statements_and_settings(tmp_path):
    file = tmp_path / "narrow.sql"
    file.write_text("-- replace: x.name => left(x.name, 9)\n-- server: work_mem=1MB\nDROP INDEX i;\n")
    variant = replay.variant_of(file)
    assert (variant.name, variant.settings) == ("narrow", [("work_mem", "1MB")])
    assert "DROP INDEX i" in variant.sql
    statement = Statement("save.names", "INSERT INTO n SELECT x.name FROM x", "")
    changed = replay.Changed(variant)
    (query, params), again = changed.call((statement, (1,))), changed.call((statement, (2,)))
    assert isinstance(query, Statement)
    assert (query.text, params) == ("INSERT INTO n SELECT left(x.name, 9) FROM x", (1,))
    assert again[0] is query, "a connection prepares it once"
    assert changed.call(("COMMIT", ())) == ("COMMIT", ())
    with pytest.raises(SystemExit):
        replay.main([str(tmp_path / "nowhere.sql")])


def test_the_least_of_the_replays_counts_for_each_statement():
    busy, quiet = replay.Replayed({"a": 3.0, "b": 1.0}, 9.0, 5.0), replay.Replayed({"a": 2.0, "b": 4.0}, 8.0, 5.0)
    assert replay.least([busy, quiet]) == replay.Replayed({"a": 2.0, "b": 1.0}, 8.0, 5.0)
    assert replay.least([busy, quiet]).sum_us == 3.0
