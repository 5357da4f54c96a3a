"""The content of log lines in both formats, and what they never contain."""

import io
import json
import logging
import warnings

import pytest
import structlog

from vivero import logs
from vivero.engine.tracing.current import CURRENT, POSITION, REQUEST_ID
from vivero.engine.tracing.w3c import TraceContext
from vivero.logs import lines
from vivero.logs.levels import Named
from vivero.logs.standard import Forward
from vivero.storage.postgres.errors import DataPoison, Diagnosis, Outage, StorageBug, describe

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


class Made:
    """A logger that makes lines without writing them anywhere."""

    def __init__(self, as_json=True, **options) -> None:
        self.lines = []
        render = lines.renderer(as_json, terminal=False)
        self.processors = lines.processors(options.pop("always", {}), options.pop("exception_texts", False), render)
        self.named = Named("vivero.test", logging.DEBUG, self.lines.append)
        self.logger = structlog.wrap_logger(self.named, processors=self.processors)

    @property
    def last(self):
        return json.loads(self.lines[-1])


def test_a_line_has_the_ids_of_request_and_trace_and_the_position():
    made = Made(always={"process": "2"})
    made.logger.info("one", count=1)
    assert {"event": "one", "count": 1, "logger": "vivero.test", "level": "info", "process": "2"}.items() <= (
        made.last.items()
    )
    assert not {"request_id", "trace_id", "position"} & made.last.keys()
    REQUEST_ID.set("r-1")
    POSITION.set(17)
    CURRENT.set(TraceContext(TRACE, "00f067aa0ba902b7"))
    made.logger.info("two")
    assert {"request_id": "r-1", "position": 17, "trace_id": TRACE}.items() <= made.last.items()
    made.logger.info("three", position=4)
    assert made.last["position"] == 4, "what the call says counts"


@pytest.mark.parametrize("as_json", [True, False])
def test_an_event_is_one_line_whatever_is_in_it(as_json):
    made = Made(as_json)
    nasty = "".join(map(chr, [*range(32), 127, 0x85, 0x9B, 0x2028, 0x2029, 0x202E, 0xD800])) + "x" * 5_000
    made.logger.warning(nasty, text=nasty, items=[nasty, nasty], error=RuntimeError(nasty), k={nasty: nasty})
    try:
        raise RuntimeError(nasty)
    except RuntimeError:
        made.logger.error("raised", exc_info=True)
    for line in made.lines:
        assert len(line.splitlines()) == 1
        assert not any(char < " " for char in line), "no escape sequence for the terminal"
        assert len(line) < 20_000


@pytest.fixture(autouse=True)
def of_no_request():
    """The settings of a test end with it."""
    yield
    for variable in (REQUEST_ID, POSITION, CURRENT):
        variable.set(None)


SECRETS = {
    "postgresql://vivero:s3cret@db/vivero": "postgresql://***@db/vivero",
    "host=db password=s3cret user=x": "host=db password=*** user=x",
    "password='s3 cret' user=x": "password=*** user=x",
    'Authorization: "Basic czNjcmV0OnMzY3JldA=="': "Authorization: ***",
    "sent Bearer s3cret.s3cret-s3cret": "sent Bearer ***",
    "the token vivero_s3crets3crets3crets3cret_s3": "the token vivero_***",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJzM2NyZXQifQ.s3cret": "***",
    '{"api_key": "s3cret", "n": 1}': '{"api_key": ***, "n": 1}',
}


@pytest.mark.parametrize(("text", "shown"), SECRETS.items())
def test_what_looks_like_a_secret_is_masked(text, shown):
    assert lines.clean(text) == shown
    made = Made()
    made.logger.info("event", field=text)
    assert made.last["field"] == shown


def test_errors_tell_no_data():
    data = Diagnosis("22P02", detail="Key (x)=(s3cret)", constraint="jobs_key")
    poison = DataPoison('invalid input syntax: "s3cret"', data, statement="save jobs")
    assert describe(poison) == "DataPoison: save jobs [22P02] jobs_key"
    assert describe(StorageBug("s3cret")) == "StorageBug"
    assert describe(Outage("the disk is full", Diagnosis("53100"))) == "Outage: the disk is full [53100]"
    assert describe(KeyError("s3cret")) == "KeyError"
    assert describe(OSError(28, "No space left on device", "/s3cret")) == "OSError: No space left on device"
    assert describe(ExceptionGroup("s3cret", [ValueError("s3cret"), Outage("gone")])) == "ValueError; Outage: gone"


def test_an_exception_has_its_kind_and_places_and_its_text_only_on_request():
    def fails():
        raise KeyError("s3cret")

    for texts, expected in ((False, "KeyError"), (True, "KeyError: 's3cret'")):
        made = Made(exception_texts=texts)
        try:
            fails()
        except KeyError as error:
            made.logger.error("failed", exc_info=error)
        assert made.last["raised"] == expected
        innermost, outer = made.last["at"].split(" < ")
        assert innermost.startswith("logs/test_lines.py:")
        assert innermost.endswith(" fails")
        assert outer.endswith(" test_an_exception_has_its_kind_and_places_and_its_text_only_on_request")


def test_a_line_that_cannot_be_made_says_so():
    class Broken:
        def __str__(self) -> str:
            raise ValueError("s3cret")

    made = Made()
    made.logger.info("an event", field=Broken())
    assert (made.last["event"], made.last["of"], made.last["error"]) == (
        "a log line could not be made", "an event", "ValueError",
    )  # fmt: skip


def test_lines_of_libraries_look_alike():
    made = Made()
    levels = {"quiet": logging.WARNING}
    forward = Forward(made.processors, lambda name: Named(name, levels.get(name, 0), made.lines.append))
    for name, level in (("quiet", logging.INFO), ("quiet", logging.ERROR), ("loud", logging.DEBUG)):
        record = logging.LogRecord(name, level, "x.py", 1, "a %s\npassword=%s", ("b", "s3cret"), None)
        forward.handle(record)
    assert [(json.loads(one)["logger"], json.loads(one)["level"]) for one in made.lines] == [
        ("quiet", "error"),
        ("loud", "debug"),
    ]
    assert made.last["event"] == "a b\\npassword=***"
    forward.handle(logging.LogRecord("loud", logging.INFO, "x.py", 1, "%s %s", ("b",), None))
    assert made.last["event"] == "%s %s (TypeError in its arguments)"


def test_a_configured_program_writes_to_its_stream(monkeypatch):
    before = structlog.get_config()
    root, handlers = logging.getLogger(), list(logging.getLogger().handlers)
    level = root.level
    stream = io.StringIO()
    try:
        with warnings.catch_warnings():
            logs.configure("json", "info", stream, levels={"vivero.loud": "debug"}, always={"process": "1"})
            structlog.get_logger("vivero.loud.sub").debug("one")
            structlog.get_logger("vivero.other").debug("none")
            logging.getLogger("library").warning("two")
            logs.flush()
    finally:
        logging.captureWarnings(False)
        structlog.configure(**before)
        for handler in set(root.handlers) - set(handlers):
            root.removeHandler(handler)
        root.setLevel(level)
    assert [json.loads(line)["event"] for line in stream.getvalue().splitlines()] == ["one", "two"]
