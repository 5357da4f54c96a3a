"""A command that starts again when Python files change."""

import os
import signal
from contextlib import aclosing

import pytest
import trio
from click.testing import CliRunner
from trio.testing import wait_all_tasks_blocked

from vivero.cli import main
from vivero.cli.shared.reloading import changes, run_again, stamps


class Process:
    """A process that ends at the given signal: 1, 2 or 3; `sent` are those that it got."""

    def __init__(self, ends_at=1) -> None:
        self.ends_at = ends_at
        self.sent = []
        self._ended = trio.Event()

    def send_signal(self, sig):
        self.sent.append(sig)
        if len(self.sent) == self.ends_at:
            self._ended.set()

    def crash(self):
        self._ended.set()

    async def wait(self):
        await self._ended.wait()
        return 0 if self.sent else 1


@pytest.fixture
def play(nursery):
    """Start the loop with these processes. Gives what sends changes, and the list of what was started."""

    async def begin(*processes):
        waiting, started = list(processes), []

        async def start():
            started.append(waiting.pop(0))
            return started[-1]

        send, receive = trio.open_memory_channel(0)
        nursery.start_soon(run_again, start, receive)
        await wait_all_tasks_blocked()
        return send, started

    return begin


async def test_a_change_ends_the_old_process_in_good_order_and_starts_a_new_one(autojump_clock, play):
    old, new = Process(), Process()
    send, started = await play(old, new)
    assert started == [old]
    await send.send(None)
    await wait_all_tasks_blocked()
    assert started == [old, new]
    assert old.sent == [signal.SIGTERM]


@pytest.mark.parametrize("ends_at", [2, 3])
async def test_a_process_that_does_not_end_hears_more(autojump_clock, play, ends_at):
    old = Process(ends_at)
    send, started = await play(old, Process())
    await send.send(None)
    await trio.sleep(60)
    assert len(started) == 2
    assert old.sent == [signal.SIGTERM, signal.SIGTERM, signal.SIGKILL][:ends_at]


async def test_a_process_that_ends_by_itself_waits_for_the_next_change(play, capsys):
    old, new = Process(), Process()
    send, started = await play(old, new)
    old.crash()
    await wait_all_tasks_blocked()
    assert "it has ended with exit code 1, and starts again when a file changes" in capsys.readouterr().err
    await send.send(None)
    await wait_all_tasks_blocked()
    assert (started, old.sent) == ([old, new], [])


async def test_a_cancellation_ends_the_process(autojump_clock):
    process = Process()

    async def start():
        return process

    _send, receive = trio.open_memory_channel(0)
    with trio.move_on_after(1):
        await run_again(start, receive)
    assert process.sent == [signal.SIGTERM]
    receive.close()
    _send.close()


async def test_changed_new_and_deleted_files_are_changes(tmp_path):
    code, other = tmp_path / "workers.py", tmp_path / "part" / "other.py"
    code.write_text("a")
    other.parent.mkdir()
    async with aclosing(changes(tmp_path, stamps(tmp_path), 0)) as changed:
        for change in (lambda: code.write_text("bb"), lambda: other.write_text("c"), other.unlink):
            change()
            await anext(changed)


def test_files_that_are_not_the_users_do_not_count(tmp_path):
    for name in (".venv/a.py", "site-packages/b.py", "__pycache__/c.py", "notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "d.py").write_text("x")
    os.symlink(tmp_path / "nowhere", tmp_path / "broken.py")
    assert [os.path.basename(name) for name in stamps(tmp_path)] == ["d.py"]


def test_a_server_starts_again_with_all_of_its_options(monkeypatch, tmp_path):
    """The command of the server is the same one without --reload; the files are those beside the module of jobs."""
    started = []

    async def reloading(command, folder):
        started.append((command[1:], folder))

    monkeypatch.setattr("vivero.cli.shared.reloading.reloading", reloading)
    module = tmp_path / "my_jobs.py"
    arguments = ["up", "--port", "0", "--reload", "--jobs", str(module)]
    monkeypatch.setattr("sys.argv", ["vivero", *arguments])
    assert CliRunner().invoke(main, arguments).exit_code == 0
    assert started == [(["-m", "vivero", "up", "--port", "0", "--jobs", str(module)], tmp_path)]
    refused = CliRunner().invoke(main, ["up", "--reload"])
    assert (refused.exit_code, "--reload needs --jobs" in refused.output) == (2, True)
