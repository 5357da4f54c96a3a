"""Builds the console into `console/dist`: installs its packages by the lock file, checks its types, and bundles it.

    python console/build.py
    python console/build.py --check      # the format, the linter and the types of an installed console
    python console/build.py --format     # rewrites its code in the project's format

It uses the machine's Node.js if it is recent enough. Without one, the build installs the Node.js of
requirements/node.txt, a package for Python, beside the interpreter that runs it. `--no-packages` forbids that.
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
LINTER = CONSOLE / "node_modules" / "@biomejs"
RUN = ("run", "--silent")
BUILD = (("ci", "--silent"), (*RUN, "check"), (*RUN, "build"))
CHECK = ((*RUN, "lint"), (*RUN, "check"))
FORMAT = ((*RUN, "format"),)
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


def run(path: str, steps: tuple[tuple[str, ...], ...]) -> None:
    """Run steps of npm with the programs of a search path. Raises CalledProcessError."""
    environment = {**os.environ, "PATH": path, "npm_config_update_notifier": "false"}
    npm = shutil.which("npm", path=path) or "npm"
    for step in steps:
        subprocess.run((npm, *step), cwd=CONSOLE, env=environment, check=True)


def build(may_install: bool) -> int:
    """The exit code: 1 if the console could not be built."""
    path = search_path(may_install)
    if path is None:
        print(
            "The console needs Node.js 20.19, 22.12 or later, with npm. The server works without it.", file=sys.stderr
        )
        return 1
    try:
        run(path, BUILD)
    except subprocess.CalledProcessError as error:
        print(
            f"The console was not built: {' '.join(error.cmd[1:])} failed. The server works without it.",
            file=sys.stderr,
        )
        return 1
    return 0


def tend(steps: tuple[tuple[str, ...], ...]) -> int:
    """Check or format an installed console. The exit code: 1 if something is wrong, or if it must be installed."""
    path = search_path(may_install=False)
    if path is None or not LINTER.is_dir():
        print("The console is not checked: its packages are not installed (make console).", file=sys.stderr)
        return int(os.environ.get("VIVERO_CONSOLE") == "required")
    try:
        run(path, steps)
    except subprocess.CalledProcessError as error:
        print(f"The console: {' '.join(error.cmd[1:])} failed.", file=sys.stderr)
        return 1
    return 0


def main(arguments: list[str]) -> int:
    """The exit code."""
    for option, steps in (("--check", CHECK), ("--format", FORMAT)):
        if option in arguments:
            return tend(steps)
    return build("--no-packages" not in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
