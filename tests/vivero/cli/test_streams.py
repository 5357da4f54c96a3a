"""Full, closed and ASCII output, closed input: one line and an exit code, never a traceback."""

import errno
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from vivero.cli.shared.guard import line
from vivero.cli.shared.streams import Descriptor, Output, OutputFailed, is_unicode
from vivero.client.answers import Missing

FULL = Path("/dev/full")
CLOSED = "cannot write to standard output: it is closed"
NO_SPACE = f"cannot write to standard output: {os.strerror(errno.ENOSPC)}"
WRONG = "half\\ud800"


@pytest.fixture
def pipe():
    ends = os.pipe()
    yield ends
    for end in ends:
        try:
            os.close(end)
        except OSError:
            assert end in ends  # the test has closed it


def shell(script, **environment):
    """Run a line of sh, in which `$vivero` is the program."""
    variables = {"vivero": str(Path(sys.executable).with_name("vivero")), "VIVERO_TRACEBACK": ""}
    return subprocess.run(
        ["sh", "-c", script], capture_output=True, env={**os.environ, **variables, **environment}, check=False
    )


def latin(text, encoding):
    """The bytes of a text in a stream with this encoding."""
    raw = io.BytesIO()
    stream = Output(raw, encoding=encoding, errors="replace")
    stream.write(text)
    stream.flush()
    return raw.getvalue()


# ---------------------------------------------------------------------------------------------------------- streams


@pytest.mark.parametrize(
    ("encoding", "written"),
    [("utf-8", b"\xc3\xbc \xe2\x86\x92"), ("latin-1", b"\xfc ?"), ("ascii", b"? ?"), ("us-ascii", b"? ?")],
)
def test_letters_that_the_output_lacks_are_replaced(encoding, written):
    assert latin("ü →", encoding) == written


def test_half_a_surrogate_pair_is_replaced():
    assert latin("a\ud800b\udcff", "utf-8") == b"a?b?"


def test_click_writes_ascii_to_ascii():
    assert Output(io.BytesIO(), encoding="ascii").encoding == "iso8859-1"
    assert not is_unicode(Output(io.BytesIO(), encoding="ascii"))
    assert is_unicode(Output(io.BytesIO(), encoding="utf-8"))


def test_a_full_pipe_that_does_not_block_takes_everything_in_the_end(pipe):
    reader, writer = pipe
    os.set_blocking(writer, False)
    text = b"x" * 300_000
    child = subprocess.Popen(["wc", "-c"], stdin=reader, stdout=subprocess.PIPE)
    os.close(reader)
    assert Descriptor(writer, quiet=False).write(text) == len(text)
    os.close(writer)
    assert child.communicate()[0].strip() == b"300000"


def test_standard_output_fails_once_and_is_silent_then(pipe):
    reader, writer = pipe
    os.close(reader)
    stream = Descriptor(writer, quiet=False)
    with pytest.raises(OutputFailed) as failed:
        stream.write(b"a")
    assert failed.value.errno == errno.EPIPE
    assert stream.write(b"bc") == 2


def test_standard_error_never_fails(pipe):
    reader, writer = pipe
    os.close(reader)
    assert Descriptor(writer, quiet=True).write(b"a") == 1


# ------------------------------------------------------------------------------------------------------ last lines


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (OutputFailed(OSError(errno.EPIPE, "Broken pipe")), ""),
        (OutputFailed(OSError(errno.EBADF, "Bad file descriptor")), CLOSED),
        (ExceptionGroup("some", [OutputFailed(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))]), NO_SPACE),
        (IsADirectoryError(errno.EISDIR, "Is a directory", "x"), "Is a directory 'x'. VIVERO_TRACEBACK=1 "),
        (KeyError("a\nb"), "unexpected KeyError: 'a\\nb'. VIVERO_TRACEBACK=1 "),
        (
            ExceptionGroup("two", [ValueError("a\nb"), OSError("c")]),
            "unexpected ValueError: a b; unexpected OSError: c. ",
        ),
        (Missing("items"), "the answer has no 'items': is it a Vivero server?"),
    ],
)
def test_the_last_line_says_what_is_wrong(error, text):
    assert line(error).startswith(text)
    assert "\n" not in line(error)
    assert bool(line(error)) == bool(text)


# --------------------------------------------------------------------------------------------------- whole programs


@pytest.mark.parametrize(
    ("script", "code", "said"),
    [
        ("$vivero --version >/dev/full", 1, NO_SPACE),
        ("$vivero --version >&-", 1, CLOSED),
        ("$vivero --help >/dev/full", 1, NO_SPACE),
        ("$vivero feel 1 >&-", 1, CLOSED),
        ("$vivero feel 1 2>&-", 0, ""),
        ("$vivero nosuch 2>/dev/full", 2, ""),
        ("$vivero feel a --context @- <&-", 1, "cannot read standard input: it is closed"),
        ("_VIVERO_COMPLETE=bash_complete $vivero", 1, "unexpected KeyError in "),
    ],
)
@pytest.mark.skipif(not FULL.exists(), reason="/dev/full is a device of Linux")
def test_one_line_and_an_exit_code(script, code, said):
    done = shell(script)
    told = done.stderr.decode()
    assert done.returncode == code
    assert "Traceback" not in told
    assert said in told
    assert len(told.splitlines()) == bool(said)


def test_a_reader_that_has_left_hears_nothing(pipe):
    reader, writer = pipe
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "vivero", "feel", "1"], stdout=writer, stderr=subprocess.PIPE, check=False
    )
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.parametrize(
    "environment", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}]
)
def test_a_terminal_without_unicode(environment):
    shown = shell("""$vivero feel '"\\u00fc"' && $vivero nosuch-ü""", **environment)
    assert shown.stdout == b'"?"\n'
    assert shown.stderr.startswith(b"Usage: ")
    assert shown.stderr.isascii()
    assert shown.returncode == 2


def test_a_traceback_comes_on_request():
    told = shell("_VIVERO_COMPLETE=bash_complete $vivero", VIVERO_TRACEBACK="1").stderr.decode()
    assert told.startswith("Traceback")
    assert told.splitlines()[-1].startswith("Error: unexpected KeyError")


def test_json_is_escaped_where_letters_cannot_be_shown(tmp_path):
    (tmp_path / "ü.bpmn").write_text("<no/>")
    script = f"$vivero validate --json {tmp_path}/ü.bpmn"
    assert "'ü.bpmn'" in json.loads(shell(script, PYTHONIOENCODING="ascii").stdout)["problems"][0]
