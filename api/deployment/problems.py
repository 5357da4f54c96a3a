"""The problems that the files of a deployment have, each by itself and against each other.

Nothing here knows the server, so that a compute process need not import it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields

import msgspec

from vivero.core.bpmn.model import Process, parts_of
from vivero.core.bpmn.packing import Packed, pack
from vivero.core.bpmn.parser import Parsed
from vivero.core.bpmn.reading.xml import XmlLimits
from vivero.core.commands.deployments import references_of
from vivero.core.feel import Expression
from vivero.core.records.catalogue import ResourceReference
from vivero.core.resources.kinds import read_resources
from vivero.core.resources.problems import problems_of
from vivero.engine.connectors.inbound import places, webhooks

Files = Sequence[tuple[str, bytes]]
"""Names and contents."""


@dataclass(frozen=True, slots=True)
class Examined:
    """The files of a deployment, read. With problems, it has nothing else."""

    problems: tuple[str, ...] = ()
    digests: tuple[str, ...] = ()
    """The SHA-256 of each file, in hexadecimal digits."""
    references: tuple[ResourceReference, ...] = ()
    parsed: tuple[Parsed, ...] = ()
    packed: tuple[Packed, ...] = ()
    """Instead of `parsed`, from another process."""


def examine(files: Files, limits: XmlLimits) -> Examined:
    """Read and check the files of a deployment."""
    return examined(read_all(files, limits), files)


def read_all(files: Files, limits: XmlLimits) -> list[Parsed]:
    """The files, read. Problems name the file; of two files with one name, the second is `(2) process.bpmn`."""
    counts: Counter[str] = Counter()
    labelled, names = {}, {}
    for name, content in files:
        counts[name] += 1
        label = name if counts[name] == 1 else f"({counts[name]}) {name}"
        labelled[label], names[label] = content, name
    return read_resources(labelled, limits, names)


def examine_and_pack(files: Files, limits: XmlLimits) -> Examined:
    """Like `examine`, for a compute process."""
    found = examine(files, limits)
    return Examined(found.problems, found.digests, found.references, (), tuple(map(pack, found.parsed)))


def examined(parsed: Sequence[Parsed], files: Files) -> Examined:
    """Check files that have been read."""
    problems = problems_of(parsed)
    if problems:
        return Examined(tuple(problems))
    digests = tuple(hashlib.sha256(content).hexdigest() for _, content in files)
    references = references_of(parsed, digests)
    named = (msgspec.structs.replace(one, name=name) for one, (name, _) in zip(references, files, strict=True))
    return Examined((), digests, tuple(named), tuple(parsed))


def evaluates(parsed: Sequence[Parsed]) -> bool:
    """Whether the check evaluates expressions, which may use all of their steps: those of start events."""
    return any(
        isinstance(value, Expression) and not value.is_static
        for resource in parsed
        for process in resource.processes
        for node in process.nodes.values()
        if node.type == "START_EVENT" and node.scope == process.id
        for event in parts_of(node.event)
        for value in (getattr(event, each.name) for each in fields(event))
    )


def webhook_problems(parsed: Sequence[Parsed]) -> list[str]:
    """Problems of the webhooks of these files, without a look at deployed ones."""
    problems: list[str] = []
    owners: dict[str, str] = {}
    for resource in parsed:
        for process in resource.processes:
            problems += webhooks.problems(resource.resource, process)
            problems += places.problems(resource.resource, [process])
            paths = {webhook.path for webhook in webhooks.webhooks_of(process)}
            problems += taken(resource, process, paths & owners.keys())
            owners |= dict.fromkeys(paths, process.id)
    return problems


def taken(resource: Parsed, process: Process, paths: Iterable[str]) -> Iterator[str]:
    for path in sorted(paths):
        yield f"'{resource.resource}': process '{process.id}' has the webhook path '{path}' of another process"
