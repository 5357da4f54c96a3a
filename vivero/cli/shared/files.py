"""The files that a command names: one by one, as directories, or as patterns that no shell has resolved."""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from click.shell_completion import CompletionItem

SUFFIXES = (".bpmn", ".form", ".dmn")
"""File types that a directory stands for. Other files must be named: an `.xml` need not be a model."""


class Resources(click.ParamType[list[Path]]):
    """A file; a directory, for all models, forms and decisions in it and below; or a pattern, as `models/*.bpmn`."""

    name = "FILE"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> list[Path]:
        path = Path(value)
        if path.is_dir():
            found = sorted(_below(path))
            if not found:
                self.fail(f"there are no {' or '.join(SUFFIXES)} files in the directory '{value}'", param, ctx)
            return found
        if path.exists():
            return [path]
        matching = sorted(Path(each) for each in glob.glob(value, recursive=True)) if glob.has_magic(value) else []
        if not matching:
            self.fail(f"there is no file '{value}'", param, ctx)
        return [each for each in matching if each.is_file()]

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type="file")]


def _below(directory: Path) -> Iterator[Path]:
    """The models, forms and decisions in a directory and below, without those in hidden directories."""
    for path in directory.rglob("*"):
        hidden = any(part.startswith(".") for part in path.relative_to(directory).parts)
        if path.suffix in SUFFIXES and path.is_file() and not hidden:
            yield path


def chosen(_context: click.Context, _parameter: click.Parameter, given: tuple[list[Path], ...]) -> tuple[Path, ...]:
    """The files, each once."""
    by_place: dict[Path, Path] = {}
    for path in (path for paths in given for path in paths):
        by_place.setdefault(path.resolve(), path)
    return tuple(by_place.values())


def shown_names(files: Sequence[Path]) -> list[str]:
    """A name for each file, for people: its own, or its path if others have the same name."""
    counts = Counter(path.name for path in files)
    return [path.name if counts[path.name] == 1 else path.as_posix() for path in files]


FILES = click.argument("files", nargs=-1, required=True, metavar="FILES...", type=Resources(), callback=chosen)
