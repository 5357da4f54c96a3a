"""SIGHUP: in a terminal that closes, under nohup, and without a terminal."""

import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios

import pytest

PROGRAM = """
import signal, structlog, sys, trio
from vivero.program.hangup import Hangup

async def main():
    stop, hangup = trio.Event(), Hangup()
    if "reload" in sys.argv:
        hangup.reload = lambda: print("reloaded", flush=True)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(hangup.run, stop)
        while signal.getsignal(signal.SIGHUP) in (signal.SIG_DFL, signal.SIG_IGN):
            await trio.lowlevel.checkpoint()
        print("ready", flush=True)
        await stop.wait()
        print("stopped", flush=True)
        nursery.cancel_scope.cancel()

# The one who runs the tests may ignore the signal.
signal.signal(signal.SIGHUP, signal.SIG_IGN if "nohup" in sys.argv else signal.SIG_DFL)
structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
trio.run(main)
"""


def take_terminal():
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def run():
    """Starts the program: alone, or in a terminal. Gives the process, and the terminal's other end."""
    made = []

    def start(*arguments, terminal=False):
        ours, its = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *arguments],
            stdin=its if terminal else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=take_terminal if terminal else None,
            text=True,
        )
        os.close(its)
        made.append(process)
        assert process.stdout.readline() == "ready\n"
        return process, ours

    yield start
    for process in made:
        process.kill()
        process.communicate()


def test_it_stops_in_good_order_when_its_terminal_closes(run):
    process, ours = run(terminal=True)
    os.close(ours)
    assert process.stdout.readline() == "stopped\n"
    assert process.wait(20) == 0


def test_a_signal_while_the_terminal_is_open_reloads(run):
    process, ours = run("reload", terminal=True)
    process.send_signal(signal.SIGHUP)
    assert process.stdout.readline() == "reloaded\n"
    os.close(ours)
    assert process.stdout.readline() == "stopped\n"


def test_under_nohup_it_goes_on(run):
    process, ours = run("nohup", "reload", terminal=True)
    os.close(ours)
    assert process.stdout.readline() == "reloaded\n"
    process.send_signal(signal.SIGHUP)
    assert process.stdout.readline() == "reloaded\n"


def test_without_a_terminal_it_goes_on(run):
    process, ours = run("reload")
    process.send_signal(signal.SIGHUP)
    assert process.stdout.readline() == "reloaded\n"
    os.close(ours)
    assert process.poll() is None
