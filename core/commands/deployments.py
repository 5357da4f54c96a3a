"""Problems and warnings of a deployment about a parsed file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vivero.core.bpmn.model import DecisionFile
from vivero.core.bpmn.parser import Parsed
from vivero.core.events.starts import metadata_of
from vivero.core.records.catalogue import FormMetadata, GenericResourceMetadata, ResourceReference
from vivero.core.records.decisions import DecisionMetadata, RequirementsMetadata


def references_of(resources: Sequence[Parsed], digests: Sequence[str]) -> tuple[ResourceReference, ...]:
    """The references to all files of a deployment, which have no problems. Their names differ.

    Raises as `reference_of`.
    """
    of_names = {each.resource: digest for each, digest in zip(resources, digests, strict=True)}
    return tuple(reference_of(each, of_names[each.resource], of_names) for each in resources)


def reference_of(resource: Parsed, sha256: str, digests: Mapping[str, str] = {}) -> ResourceReference:
    """The reference to a file without problems, whose bytes are stored under their SHA-256.

    `digests`: the SHA-256 of the files that a file of decisions may import, by name.

    Raises:
        InvalidStart: a start event cannot be evaluated.
    """
    form = None if resource.form is None else FormMetadata(resource.form.id, resource.form.version_tag)
    requirements = None if resource.decisions is None else _requirements(resource.decisions, digests)
    other = resource.generic
    generic = None if other is None else GenericResourceMetadata(other.id, other.version_tag)
    processes = tuple(map(metadata_of, resource.processes))
    return ResourceReference(resource.resource, sha256, processes, form, requirements, generic)


def _requirements(file: DecisionFile, digests: Mapping[str, str]) -> RequirementsMetadata:
    decisions = tuple(DecisionMetadata(each.id, each.name, each.version_tag) for each in file.decisions)
    return RequirementsMetadata(file.id, file.name, decisions, tuple(digests[name] for name in file.imports))
