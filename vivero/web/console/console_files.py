"""The built console: its files in memory, as they are and compressed, with their headers.

The build writes `name.br` and `name.gz` beside a file. Nothing is compressed and no file is opened for a request.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from vivero.web.console import preloads

PACKAGE = Path(__file__).parents[2]
PLACES = (PACKAGE / "console", PACKAGE.parent / "console" / "dist")
"""The console's directory: in an installed package, or as `make console` builds it."""
INDEX = "index.html"

TYPES: Mapping[str, str] = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
ENCODINGS = (("br", ".br"), ("gzip", ".gz"))
"""Content codings in the order of our preference, and the endings of their files."""
FOREVER = "public, max-age=31536000, immutable"
HASHED = "assets/"
"""The build puts a hash of the content into the names of files below this folder."""


@dataclass(frozen=True, slots=True)
class ConsoleFile:
    """A file in each coding; the key "" has it as it is."""

    type: str
    bodies: Mapping[str, bytes]
    etag: str
    cache: str

    def best(self, accepted: frozenset[str]) -> tuple[str, bytes]:
        """The coding and the body for a client that accepts these codings."""
        coding = next((name for name, _ in ENCODINGS if name in accepted and name in self.bodies), "")
        return coding, self.bodies[coding]


class ConsoleFiles:
    """The files by path, relative to the console's address. `ahead`: what pages need beside the index (`preloads`)."""

    def __init__(self, files: Mapping[str, ConsoleFile], ahead: Mapping[str, str] | None = None) -> None:
        self._files = files
        self._ahead = ahead or {}

    def find(self, path: str) -> ConsoleFile | None:
        """The file at a path. The path of a page gives the index: the console itself shows pages by their address.

        Pages are below a name without a dot. What follows it may have dots, as ids of processes do.
        """
        found = self._files.get(path)
        if found is not None or path.startswith(HASHED) or "." in path.partition("/")[0]:
            return found
        return self._files[INDEX]

    def links(self, path: str) -> str | None:
        """The header `Link` of a page with what it needs next; None if that is nothing, or for a file."""
        return None if path in self._files else self._ahead.get(preloads.place_of(path))


def find_console(places: tuple[Path, ...] = PLACES) -> ConsoleFiles | None:
    """The first built console among these places; None if there is none. Reads all files."""
    return next((read(place) for place in places if (place / INDEX).is_file()), None)


def read(directory: Path) -> ConsoleFiles:
    """The files in a directory, without hidden ones."""
    paths = {path.relative_to(directory).as_posix(): path for path in directory.rglob("*") if path.is_file()}
    return ConsoleFiles(
        {name: _read_one(name, path) for name, path in paths.items() if _is_served(name, paths)},
        preloads.read(directory),
    )


def _is_served(name: str, paths: Mapping[str, Path]) -> bool:
    if any(part.startswith(".") for part in name.split("/")):
        return False
    return not any(name.endswith(ending) and name.removesuffix(ending) in paths for _, ending in ENCODINGS)


def _read_one(name: str, path: Path) -> ConsoleFile:
    body = path.read_bytes()
    compressed = {coding: path.with_name(path.name + ending) for coding, ending in ENCODINGS}
    bodies = {coding: file.read_bytes() for coding, file in compressed.items() if file.is_file()}
    etag = hashlib.blake2b(body, digest_size=12).hexdigest()
    cache = FOREVER if name.startswith(HASHED) else "no-cache"
    return ConsoleFile(TYPES.get(path.suffix, "application/octet-stream"), {**bodies, "": body}, etag, cache)
