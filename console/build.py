"""Builds the console into `console/dist`: installs its packages by the lock file, checks its types, and bundles it.

    python console/build.py

It uses the machine's Node.js if it is recent enough. Without one, it installs the Node.js of requirements/node.txt, a
package for Python, beside the interpreter that runs it. `--no-packages` forbids that.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

CONSOLE = Path(__file__).resolve().parent
REQUIREMENTS = CONSOLE.parent / "requirements" / "node.txt"
OLDEST = {20: 19, 22: 12}
"""The least minor version of each major one that the bundler runs on; later major versions all do."""


def is_recent(version: str) -> bool:
    """Whether the bundler runs on a version of Node.js, such as `v24.1.0`."""
    found = re.match(r"v(\d+)\.(\d+)\.", version)
    if found is None:
        return False
    major, minor = int(found[1]), int(found[2])
    return minor >= OLDEST[major] if major in OLDEST else major > max(OLDEST)


def usable(path: str) -> bool:
    """Whether `node` and `npm` are among the programs of a search path, and recent enough."""
    node = shutil.which("node", path=path)
    if node is None or shutil.which("npm", path=path) is None:
        return False
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    return is_recent(version)


def search_path(may_install: bool) -> str | None:
    """A search path with Node.js: the user's, or with the interpreter's own programs in front; None without any."""
    given = os.environ.get("PATH", "")
    own = f"{Path(sys.executable).parent}{os.pathsep}{given}"
    for path in (given, own):
        if usable(path):
            return path
    if may_install:
        pip = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        subprocess.run([*pip, "--require-hashes", "-r", str(REQUIREMENTS)], check=False)
    return own if usable(own) else None


def build(path: str) -> None:
    """Build with the programs of a search path. Raises CalledProcessError."""
    environment = {**os.environ, "PATH": path, "npm_config_update_notifier": "false"}
    npm = shutil.which("npm", path=path) or "npm"
    steps = ((npm, "ci", "--silent"), (npm, "run", "--silent", "check"), (npm, "run", "--silent", "build"))
    for step in steps:
        subprocess.run(step, cwd=CONSOLE, env=environment, check=True)


def main(arguments: list[str]) -> int:
    """The exit code: 1 if the console could not be built."""
    path = search_path("--no-packages" not in arguments)
    if path is None:
        print(
            "The console needs Node.js 20.19, 22.12 or later, with npm. The server works without it.", file=sys.stderr
        )
        return 1
    try:
        build(path)
    except subprocess.CalledProcessError as error:
        print(
            f"The console was not built: {' '.join(error.cmd[1:])} failed. The server works without it.",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
