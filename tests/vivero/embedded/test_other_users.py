"""Another user of the machine gets neither to the embedded database's socket nor to its files."""

import os
import subprocess

import psycopg
import pytest

from vivero import embedded

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can try as another user"),
]

STRANGER = 54_321
"""A user id without a name: neither root's nor that of the user who runs the server."""
TRY = """
import os, socket, stat, sys
for path in sys.stdin.read().splitlines():
    try:
        if stat.S_ISSOCK(os.stat(path).st_mode):
            socket.socket(socket.AF_UNIX).connect(path)
        elif os.path.isdir(path):
            os.listdir(path)
        else:
            open(path, "rb").close()
    except OSError:
        continue
    print(path)
"""


def reached(paths, user, nobody):
    """Those of the paths that a user can list, read or connect to."""
    result = subprocess.run(
        [nobody.python, "-c", TRY],
        user=user, group=user, extra_groups=[], env=nobody.environment, cwd="/",
        input="\n".join(map(str, paths)), text=True, capture_output=True, check=True,
    )  # fmt: skip
    return set(result.stdout.splitlines())


def test_a_stranger_reaches_nothing(root, quick, nobody):
    with embedded.acquire(root, quick) as lease, psycopg.connect(lease.dsn) as connection:
        paths = [root, *root.rglob("*")]
        sockets = [str(path) for path in paths if path.is_socket()]
        everything = reached(paths, 0, nobody)
        assert {*sockets, str(root)} <= everything, "the attempts work for those who may"
        assert any(path.endswith("pg_hba.conf") for path in everything)
        assert sockets
        assert reached(paths, STRANGER, nobody) == set()
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",), "no way in over the network"
