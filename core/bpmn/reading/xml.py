"""Reading untrusted XML: bytes in, an element tree or one reason against it out.

Files with too many bytes or tags, unusual encodings or a DOCTYPE are rejected before libxml2 sees them. A DTD can name
files, addresses and entities that grow without bound, and BPMN does not need one. The parser itself loads nothing,
resolves nothing, and keeps its own limits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from lxml import etree

from vivero.core.feel import DEFAULT_LIMITS, FeelLimits

Element = etree._Element

BPMN = "http://www.omg.org/spec/BPMN/20100524/MODEL"
ZEEBE = "http://camunda.org/schema/zeebe/1.0"


@dataclass(frozen=True, slots=True)
class XmlLimits:
    """The limits of a file. `tags` counts every `<`, so an element with an end tag counts twice."""

    bytes: int = 4 * 1024 * 1024
    tags: int = 100_000
    depth: int = 256
    nodes: int = 10_000
    """Executable processes, their flow nodes and their sequence flows."""
    expressions: int = 256 * 1024
    """Characters of all expressions together. Each expression and each static value counts as 16 at least."""
    join_places: int = 500_000
    """The sum over all inclusive joins: incoming flows times the nodes and flows of the scope."""
    problems: int = 200
    """The number of problems that are reported one by one."""
    id_length: int = 255
    name_length: int = 4_000
    feel: FeelLimits = DEFAULT_LIMITS
    """The limits of each expression, when it is read and when it is evaluated."""


LIMITS = XmlLimits()


class Unreadable(Exception):
    """The content is not an accepted XML document. `line` counts from 1; None if no line is at fault."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


def read_document(content: bytes, limits: XmlLimits = LIMITS, *, keeps_comments: bool = False) -> Element:
    """The root element. Raises `Unreadable` and nothing else, whatever the bytes are.

    `keeps_comments`: comments and processing instructions stay in the tree, for a file that is written again.
    """
    if len(content) > limits.bytes:
        raise Unreadable(f"the file has {len(content)} bytes; at most {limits.bytes} are read")
    text = decode(content)
    if text.count("<") > limits.tags:
        raise Unreadable(f"the file has more than {limits.tags} tags")
    reject_doctype(text)
    root = parse_text(text, limits, keeps_comments=keeps_comments)
    _check_depth(root, limits)
    return root


def parse_text(text: str, limits: XmlLimits, *, keeps_comments: bool = False) -> Element:
    try:
        root = etree.fromstring(text.encode("utf-8"), safe_parser(keeps_comments=keeps_comments))
    except etree.XMLSyntaxError as error:
        raise Unreadable(_reason(error, limits), error.lineno or None) from error
    if root.getroottree().docinfo.internalDTD is not None:
        raise Unreadable(_NO_DOCTYPE)
    return root


def safe_parser(*, keeps_comments: bool = False) -> etree.XMLParser:
    """The second line of defence: without the checks above, too, nothing would be loaded or expanded."""
    return etree.XMLParser(
        encoding="utf-8",  # overrides the declaration, which `decode` has handled
        resolve_entities=False,
        no_network=True,
        huge_tree=False,
        load_dtd=False,
        remove_comments=not keeps_comments,
        remove_pis=not keeps_comments,
    )


def _reason(error: etree.XMLSyntaxError, limits: XmlLimits) -> str:
    message = str(error.msg or "malformed")
    if "Excessive depth" in message:
        return f"elements are nested deeper than {limits.depth} levels"
    return f"not well-formed XML: {message.splitlines()[0][:200]}"


def _check_depth(root: Element, limits: XmlLimits) -> None:
    """Check the depth. libxml2 has such a limit too, but it depends on the version and the build."""
    level, depth = [root], 1
    while level:
        if depth > limits.depth:
            raise Unreadable(f"elements are nested deeper than {limits.depth} levels", line_of(level[0]))
        level = [child for element in level for child in element]
        depth += 1


# Encodings ------------------------------------------------------------------------------------------------------------

_CODECS = {
    "utf-8": "utf-8",
    "utf8": "utf-8",
    "us-ascii": "ascii",
    "ascii": "ascii",
    "iso-8859-1": "latin-1",
    "iso-8859-15": "iso8859-15",
    "windows-1252": "cp1252",
}
_BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", None),  # UTF-32; before UTF-16, whose mark is its beginning
    (b"\x00\x00\xfe\xff", None),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
    (b"<\x00", "utf-16-le"),
    (b"\x00<", "utf-16-be"),
)
_DECLARED = re.compile(rb"""<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([^"'>]{0,40})["']""")


def decode(content: bytes) -> str:
    """The text of an XML document by byte order mark, else by declaration, else as UTF-8 (XML 1.0, appendix F).

    It accepts fewer encodings than XML, because some codecs of Python and libxml2 hide tags from a scanner.
    """
    codec = _codec(content)
    try:
        return content.decode(codec)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise Unreadable(f"not valid {error.encoding.upper()} at byte {error.start}", line) from error


def _codec(content: bytes) -> str:
    for mark, codec in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            if codec is None:
                raise Unreadable("the encoding UTF-32 is not read; save the file as UTF-8")
            return codec
    return _declared_codec(content)


def _declared_codec(content: bytes) -> str:
    declared = _DECLARED.match(content)
    if declared is None:
        return "utf-8"
    name = declared[1].decode("ascii", "replace")
    codec = _CODECS.get(name.lower())
    if codec is None:
        wrong = "the file declares it but is not written in it" if name.lower().startswith("utf-16") else "not read"
        raise Unreadable(f"the encoding {name!r}: {wrong}; save the file as UTF-8", 1)
    return codec


# Document type --------------------------------------------------------------------------------------------------------

_NO_DOCTYPE = "a document type (DOCTYPE) is not allowed: BPMN needs none, and it can name files and endless entities"
_SPACE = re.compile(r"[ \t\r\n]+")
_SKIPPED = (("<!--", "-->"), ("<?", "?>"))


def reject_doctype(text: str) -> None:
    """Find a DOCTYPE, which can only stand before the root element. In a comment or CDATA the word is harmless text."""
    at: int | None = _skip_space(text, 0)
    while at is not None:
        if text.startswith("<!DOCTYPE", at):
            raise Unreadable(_NO_DOCTYPE, text.count("\n", 0, at) + 1)
        at = _skip_one(text, at)


def _skip_one(text: str, at: int) -> int | None:
    """The position after the comment or processing instruction at `at`; None if there is none, or no end of it."""
    for opening, closing in _SKIPPED:
        if text.startswith(opening, at):
            end = text.find(closing, at + len(opening))
            return None if end < 0 else _skip_space(text, end + len(closing))
    return None


def _skip_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


# Names ----------------------------------------------------------------------------------------------------------------


def split(element: Element) -> tuple[str, str]:
    """Namespace and local name. The namespace is empty if there is none."""
    tag = str(element.tag)
    return _split_known(tag) if len(tag) <= KNOWN_CHARACTERS else _split(tag)


KNOWN_CHARACTERS = 200
"""Longer names are not remembered. BPMN has none, and a hostile file repeats one of megabytes in each of its tags."""


def _split(tag: str) -> tuple[str, str]:
    if not tag.startswith("{"):
        return "", tag
    namespace, _, local = tag[1:].partition("}")
    return namespace, local


_split_known = lru_cache(1_000)(_split)
"""Checks ask for the few names of BPMN again and again; a hostile file has any number of them."""


UNKNOWN_LINE = 65_535
"""From this line on libxml2 says this line, or guesses by neighbours."""


def line_of(element: Element) -> int | None:
    """The line of the element's start tag, from 1; None if it is unknown: libxml2 counts lines with 16 bits."""
    line: int | None = element.sourceline  # type: ignore[assignment]  # the stubs leave its type open
    return None if line is None or line >= UNKNOWN_LINE else line


def made(tag: str, parent: Element, origin: Element, at: int | None = None, **attributes: str) -> Element:
    """A new BPMN element in `parent`, at its end or place `at`, with the line of the element that it comes from."""
    element = etree.Element(f"{{{BPMN}}}{tag}", attributes)
    set_line(element, origin)
    parent.insert(len(parent) if at is None else at, element)
    return element


def set_line(element: Element, origin: Element) -> None:
    element.sourceline = line_of(origin) or UNKNOWN_LINE  # type: ignore[assignment]  # as of `line_of`


def bpmn_children(element: Element, *names: str) -> list[Element]:
    """Children of the BPMN namespace with one of these local names, in document order."""
    tags = {f"{{{BPMN}}}{name}" for name in names}
    return [child for child in element if child.tag in tags]


def zeebe_children(element: Element, name: str) -> list[Element]:
    """Children `zeebe:<name>`, in document order."""
    return list(element.iterchildren(f"{{{ZEEBE}}}{name}"))


def text_of(element: Element) -> str:
    """The text of an element without comments, with CDATA, and without surrounding space."""
    return "".join(str(part) for part in element.itertext()).strip()
