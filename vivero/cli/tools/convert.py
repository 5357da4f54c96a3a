"""The command `convert`: models of Camunda 7 in the form of Camunda 8."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from vivero.cli.shared.failures import Failure
from vivero.cli.shared.files import FILES
from vivero.cli.shared.options import json_option, say
from vivero.config.files import Unreadable, read_bytes
from vivero.core.bpmn.camunda7.conversion import Conversion, convert, is_camunda7, read
from vivero.core.bpmn.camunda7.notes import Care
from vivero.core.bpmn.reading.xml import Unreadable as UnreadableXml
from vivero.core.resources.kinds import read_resources
from vivero.core.resources.problems import problems_of
from vivero.terminal.texts import echo

MODELS = frozenset((".bpmn", ".xml"))
HEADS = {Care.TODO: "to do", Care.CHECK: "to check", Care.DROPPED: "dropped"}


@click.command(name="convert")
@FILES
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    default=Path("converted"),
    help="The directory for the converted files. [default: converted]",
)
@click.option("--force", is_flag=True, help="Replace files that are there.")
@json_option
def convert_(files: tuple[Path, ...], out: Path, force: bool, as_json: bool) -> None:
    """Convert models of Camunda 7 and Operaton, and list what is left to do, with line and advice.

    External tasks, delegates, scripts and listeners become jobs; expressions in JUEL become FEEL; forms, called
    elements, loops, timers and mappings take the form of Camunda 8. Generated forms become .form files. A directory
    stands for its files .bpmn, .form and .dmn, also those below. Files that are not of Camunda 7 are copied. The
    given files stay as they are.

    \b
    Examples:
      vivero convert loan.bpmn
      vivero convert models/ --out camunda8
    """
    contents = {file: _content(file) for file in files}
    done = {file: _converted(file, content) for file, content in contents.items()}
    written = _written(contents, done)
    targets = [out / name for name in written]
    if {path.resolve() for path in targets} & {file.resolve() for file in files}:
        raise Failure(f"The given files are in {out}: --out names another directory for the converted ones")
    _check_absent(targets, force)
    out.mkdir(parents=True, exist_ok=True)
    for name, content in written.items():
        (out / name).write_bytes(content)
    problems = problems_of(read_resources(written))
    for file, conversion in done.items():
        if as_json:
            say(_document(file, out, conversion))
        else:
            _print(file, out, conversion)
    if as_json:
        say({"problems": problems})
    else:
        _conclude(out, [one for one in done.values() if one is not None], problems)


def _content(file: Path) -> bytes:
    try:
        return read_bytes(file)
    except Unreadable as error:
        raise Failure(str(error)) from error


def _converted(file: Path, content: bytes) -> Conversion | None:
    """The conversion; None for a file that is not of Camunda 7."""
    if file.suffix not in MODELS:
        return None
    try:
        root = read(content)
    except UnreadableXml as error:
        line = "" if error.line is None else f" line {error.line}"
        raise Failure(f"'{file}'{line}: {error.message}") from error
    return convert(root) if is_camunda7(root) else None


def _written(contents: Mapping[Path, bytes], done: Mapping[Path, Conversion | None]) -> dict[str, bytes]:
    """All files of the result, by name. Raises Failure if two have one name."""
    named: list[tuple[str, bytes]] = []
    for file, conversion in done.items():
        named.append((file.name, contents[file] if conversion is None else conversion.content))
        named += [] if conversion is None else conversion.files.items()
    twice = [name for name, count in Counter(name for name, _ in named).items() if count > 1]
    if twice:
        raise Failure(f"Two files would be called {', '.join(twice)}: convert them into different directories")
    return dict(named)


def _check_absent(paths: Sequence[Path], force: bool) -> None:
    present = [str(path) for path in paths if path.exists()]
    if present and not force:
        raise Failure(f"There is {', '.join(present)} already: --force replaces it, --out names another directory")


def _document(file: Path, out: Path, conversion: Conversion | None) -> dict[str, Any]:
    notes = () if conversion is None else conversion.notes
    return {
        "file": str(file),
        "converted": conversion is not None,
        "written": [str(out / file.name)] + [str(out / name) for name in (conversion.files if conversion else ())],
        "notes": [
            {
                "care": str(each.care),
                "line": each.line,
                "element": each.element,
                "text": each.text,
                "advice": each.advice,
            }
            for each in notes
        ],
    }


def _print(file: Path, out: Path, conversion: Conversion | None) -> None:
    if conversion is None:
        echo(f"{file}: copied, it is not of Camunda 7")
        return
    echo(f"{file} -> {', '.join(str(out / name) for name in (file.name, *conversion.files))}")
    for care, head in HEADS.items():
        notes = [each for each in conversion.notes if each.care is care]
        if notes:
            echo(f"  {head}:")
        for each in notes:
            echo(f"    {each}")


def _conclude(out: Path, conversions: Sequence[Conversion], problems: Sequence[str]) -> None:
    counts = Counter(each.care for one in conversions for each in one.notes)
    if problems:
        echo("A deployment would still refuse:")
        for problem in problems:
            echo(f"  {problem}")
    converted = f"{len(conversions)} converted, {counts[Care.TODO]} to do, {counts[Care.CHECK]} to check"
    echo(f"{converted}. Next: vivero validate {out}")
