"""Problems and warnings of a deployment about a parsed file."""

from __future__ import annotations

from vivero.core.bpmn.parser import Parsed
from vivero.core.events.starts import metadata_of
from vivero.core.records.catalogue import FormMetadata, ResourceReference


def reference_of(resource: Parsed, sha256: str) -> ResourceReference:
    """The reference to a file without problems, whose bytes are stored under their SHA-256.

    Raises:
        InvalidStart: a start event cannot be evaluated.
    """
    form = None if resource.form is None else FormMetadata(resource.form.id, resource.form.version_tag)
    return ResourceReference(resource.resource, sha256, tuple(map(metadata_of, resource.processes)), form)
