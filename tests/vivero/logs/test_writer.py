"""A log call never waits and never fails, whatever becomes of stderr."""

import os
import threading

from vivero.logs.writer import Writer


class Sink:
    """Takes what is written, or waits, or fails."""

    def __init__(self) -> None:
        self.taken = b""
        self.open = threading.Event()
        self.open.set()
        self.entered = threading.Event()
        self.error = None

    def __call__(self, data) -> None:
        self.entered.set()
        assert self.open.wait(30)
        if self.error is not None:
            raise self.error
        self.taken += data


def tell_lost(count):
    return f"{count} lost"


def test_lines_come_in_their_order():
    sink = Sink()
    writer = Writer(sink, tell_lost)
    for number in range(1_000):
        writer.write(f"line {number}")
    writer.flush(30)
    assert sink.taken.decode().splitlines() == [f"line {number}" for number in range(1_000)]


def test_a_reader_that_hangs_costs_lines_but_no_time():
    sink = Sink()
    sink.open.clear()
    writer = Writer(sink, tell_lost, max_bytes=100)
    writer.write("first")
    assert sink.entered.wait(30)
    for _ in range(50):
        writer.write("1234567890")
    assert writer.lost == 50 - 9
    writer.flush(0.01)
    assert sink.taken == b""
    sink.open.set()
    writer.flush(30)
    assert sink.taken.decode().splitlines() == ["first", "41 lost", *["1234567890"] * 9]


def test_a_full_disk_costs_lines_until_there_is_room():
    sink = Sink()
    sink.error = OSError(28, "No space left on device")
    writer = Writer(sink, tell_lost)
    writer.write("a")
    writer.flush(30)
    assert writer.lost == 1
    sink.error = None
    writer.write("b")
    writer.flush(30)
    assert sink.taken.decode().splitlines() == ["1 lost", "b"]
    assert writer.lost == 0


def test_a_pipe_whose_reader_is_gone_ends_nothing():
    read, write = os.pipe()
    os.close(read)
    writer = Writer(lambda data: print(os.write(write, data)), tell_lost)
    writer.write("a")
    writer.flush(30)
    assert writer.lost == 1
    os.close(write)


def test_text_that_is_no_text_is_written_all_the_same():
    sink = Sink()
    writer = Writer(sink, tell_lost)
    writer.write("a\ud800b")
    writer.flush(30)
    assert sink.taken == b"a\\ud800b\n"
