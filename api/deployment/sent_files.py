"""The files and the tenant in the body of a deployment."""

from __future__ import annotations

from collections import Counter

from vivero.api.deployment.names import name_within
from vivero.api.deployment.problems import Files
from vivero.api.http.multipart import FormPart
from vivero.api.http.problems import bad_request, invalid_argument
from vivero.core.resources.generic_resources import MAX_NAME

TENANT = "tenantId"


def tenant_in(parts: list[FormPart]) -> str | None:
    """The tenant that a request names, if it names one."""
    return next((part.content.decode(errors="replace") for part in parts if part.name == TENANT), None)


def files_in(parts: list[FormPart]) -> list[FormPart]:
    """The files of a request, with the names under which they are stored. Raises Problem 400."""
    files = []
    for part in parts:
        if part.name == "resources":
            files.append(part)
        elif part.name != TENANT:
            raise bad_request(
                f"Request property [{part.name[:100]}] cannot be parsed: the parts of a deployment are called resources"
            )
    if not files:
        raise invalid_argument("No resources provided")
    return [file._replace(file_name=_name(file.file_name or "")) for file in files]


def contents_of(files: list[FormPart]) -> Files:
    """The names and contents of files."""
    return [(file.file_name or "", file.content) for file in files]


def _name(sent: str) -> str:
    """The name of a file as it is stored. Raises Problem 400."""
    name = name_within(sent)
    if name is None or len(name) > MAX_NAME:
        raise invalid_argument(
            f"Every resource needs a file name of at most {MAX_NAME} characters, and '{sent[:100]}' is none"
        )
    return name


def renamed(parts: list[FormPart], files: list[FormPart]) -> list[str]:
    """A warning for each file that is stored under another name than its client sent."""
    sent = [part.file_name or "" for part in parts if part.name == "resources"]
    found = Counter(file.file_name for file in files)
    return [
        f"'{path}' leads out of the folder of its deployment: the file is deployed as '{file.file_name}'"
        + (f", which is the name of {found[file.file_name]} files of this request" if found[file.file_name] > 1 else "")
        for path, file in zip(sent, files, strict=True)
        if path != file.file_name
    ]
