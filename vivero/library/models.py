"""The BPMN models that instances run, by the hash of their content, and the other files that they name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from hashlib import sha256
from pathlib import Path, PurePath
from typing import Any

import msgspec

from vivero.core.bpmn.model import DecisionFile, Form, GenericResource, Problem, Process
from vivero.core.resources.kinds import read_resources
from vivero.core.snapshots.format import DefinitionEntry
from vivero.core.state.catalogue import DecisionVersion, Definition, FormVersion, GenericResourceVersion

KEY_BYTES = 6
"""Bytes of a hash in the key of a definition: it is below all keys that an engine gives out."""
DEPLOYMENT = 1
"""The key of the one deployment that all models belong to."""


class InvalidModel(Exception):
    """A BPMN file has problems, one in each line."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


class Models:
    """BPMN files, forms, decisions and others, parsed once. Of two files with the same id, the later has its newer
    version.

    A running instance needs the file with which it began. Keep old versions as long as snapshots refer to them.
    """

    def __init__(self, files: Mapping[str, bytes]) -> None:
        """`files`: name → content. Names that end with `.bpmn`, `.form`, `.dmn` and `.rpa` say what the file is. Every
        other file is a generic resource, whose id is its name without folders.

        Raises:
            InvalidModel: a file has problems.
        """
        self.files = dict(files)
        self.resources: dict[str, dict[str, Process]] = {}
        """SHA-256 of a file → its processes by id."""
        self._names: dict[str, str] = {}
        self._forms: dict[str, Form] = {}
        self._generic: list[tuple[GenericResource, str]] = []
        """With the SHA-256 of each. Two of them may have the same content."""
        self._decisions: dict[str, DecisionFile] = {}
        self.decision_files: dict[str, bytes] = {}
        """SHA-256 of a file of decisions → its content."""
        self.of_cluster: Mapping[str, Any] = {}
        self.of_tenant: Mapping[str, Any] = {}
        """Cluster variables, as JSON values. Each call of a function reads them."""
        for parsed in read_resources(self.files):
            name, content = parsed.resource, self.files[parsed.resource]
            if parsed.problems:
                raise InvalidModel(parsed.problems)
            digest = sha256(content).hexdigest()
            if parsed.decisions is not None:
                self._decisions[digest] = parsed.decisions
                self.decision_files[digest] = content
            if parsed.form is not None:
                self._forms[digest] = parsed.form
            if parsed.generic is not None:
                self._generic.append((_without_folders(parsed.generic, name), digest))
            self.resources[digest] = {process.id: process for process in parsed.processes}
            self._names[digest] = name

    @classmethod
    def read(cls, *paths: str | Path) -> Models:
        """The models of files. Raises InvalidModel, and OSError if a file cannot be read."""
        return cls({str(path): Path(path).read_bytes() for path in paths})

    def with_cluster_variables(self, of_cluster: Mapping[str, Any], of_tenant: Mapping[str, Any] = {}) -> Models:
        """The same models, whose expressions see these cluster variables (docs/cluster-variables.md)."""
        other = copy(self)
        other.of_cluster, other.of_tenant = of_cluster, of_tenant
        return other

    def process_ids(self) -> list[str]:
        """The ids of all executable processes, in the order of the files."""
        return list(dict.fromkeys(id for processes in self.resources.values() for id in processes))

    def process(self, definition: Definition) -> Process | None:
        """The executable model of a definition; None if there is none."""
        return self.resources.get(definition.sha256, {}).get(definition.process_id)

    def name_of(self, digest: str) -> str:
        """The name of the file with this SHA-256."""
        return self._names[digest]

    def has(self, process_id: str, digest: str) -> bool:
        return process_id in self.resources.get(digest, {})

    def definitions(self, tenant: str, known: Iterable[DefinitionEntry] = ()) -> Iterator[Definition]:
        """A definition for each version of each process. Those that a snapshot knows keep their keys and versions."""
        entries = {(entry.process_id, entry.sha256): entry for entry in known}
        for process_id in self.process_ids():
            taken = {entry.version for entry in entries.values() if entry.process_id == process_id}
            version = 0
            for digest, processes in self.resources.items():
                if process_id not in processes:
                    continue
                entry = entries.get((process_id, digest))
                version = _next_version(version, taken) if entry is None else entry.version
                yield self._definition(processes[process_id], digest, version, tenant, entry)

    def forms(self, tenant: str) -> Iterator[FormVersion]:
        """A version of a form for each file."""
        versions: dict[str, int] = {}
        for digest, form in self._forms.items():
            version = versions[form.id] = versions.get(form.id, 0) + 1
            key, name = _key_of(form.id, digest), self._names[digest]
            yield FormVersion(key, DEPLOYMENT, tenant, form.id, version, form.version_tag, name, digest, "ACTIVE", 0)

    def form(self, key: int) -> dict[str, Any] | None:
        """The schema of a form, as it stands in its file; None if the models do not have it."""
        found = (
            self.files[self._names[digest]] for digest, form in self._forms.items() if _key_of(form.id, digest) == key
        )
        return next((msgspec.json.decode(content) for content in found), None)

    def start_form(self, process_id: str) -> dict[str, Any] | None:
        """The schema of the form with which people start the newest version of a process; None if there is none."""
        named = [processes[process_id] for processes in self.resources.values() if process_id in processes]
        start = named[-1].root.start if named else None
        reference = None if start is None else named[-1].nodes[start].start_form
        if reference is None:
            return None
        form_id, tag = reference.form_id.static_value, reference.version_tag
        fitting = [one.key for one in self.forms("") if one.form_id == form_id and tag in (None, one.version_tag)]
        return self.form(fitting[-1]) if fitting else None

    def generic_resources(self, tenant: str) -> Iterator[GenericResourceVersion]:
        """A version of a generic resource for each file."""
        versions: dict[str, int] = {}
        for resource, digest in self._generic:
            id, tag, name = resource.id, resource.version_tag, self._names[digest]
            version, key = versions.get(id, 0) + 1, _key_of(f"resource {id}", digest)
            versions[id] = version
            yield GenericResourceVersion(key, DEPLOYMENT, tenant, id, version, tag, name, digest, "ACTIVE", 0)

    def decisions(self, tenant: str) -> Iterator[DecisionVersion]:
        """A version of each decision for each file."""
        digests = {name: digest for digest, name in self._names.items()}
        versions: dict[str, int] = {}
        for digest, file in self._decisions.items():
            imports = tuple(digests[name] for name in file.imports)
            requirements = _key_of(file.id, digest)
            for decision in file.decisions:
                id, tag = decision.id, decision.version_tag
                version = versions[id] = versions.get(id, 0) + 1
                yield DecisionVersion(
                    _key_of(f"decision {id}", digest),
                    DEPLOYMENT,
                    tenant,
                    id,
                    version,
                    decision.name,
                    tag,
                    requirements,
                    digest,
                    imports,
                    "ACTIVE",
                    0,
                )

    def _definition(
        self, process: Process, digest: str, version: int, tenant: str, entry: DefinitionEntry | None
    ) -> Definition:
        key = _key_of(process.id, digest) if entry is None else int(entry.key)
        name = self._names[digest] if entry is None else entry.resource_name
        return Definition(
            key, DEPLOYMENT, tenant, process.id, version, process.name, process.version_tag, name, digest, "ACTIVE", 0
        )


def _without_folders(resource: GenericResource, name: str) -> GenericResource:
    """A file that is named by its name has the id that it gets when it is deployed."""
    return replace(resource, id=PurePath(name).name) if resource.id == name else resource


def _next_version(before: int, taken: set[int]) -> int:
    version = before + 1
    while version in taken:
        version += 1
    return version


def _key_of(process_id: str, digest: str) -> int:
    """The key of a definition or a form: the same wherever the file is used."""
    return int.from_bytes(sha256(f"{digest}:{process_id}".encode()).digest()[:KEY_BYTES]) + 1
