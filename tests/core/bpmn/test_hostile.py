"""Files of people who mean harm, or whose tools went wrong: one problem each, at once, and nothing else happens."""

from __future__ import annotations

import socket
import time
import tracemalloc
from pathlib import Path

import pytest
from lxml import etree

from vivero.core.bpmn.parser import parse
from vivero.core.bpmn.reading import xml
from vivero.core.bpmn.reading.xml import XmlLimits

BPMN = "http://www.omg.org/spec/BPMN/20100524/MODEL"
BODY = '<process id="p" isExecutable="true"><startEvent id="s" name="{}" /></process>'
DEFINITIONS = f'<definitions xmlns="{BPMN}">{{}}</definitions>'
GOOD = DEFINITIONS.format(BODY)
SECRET = Path(__file__).resolve()


def after_prolog(prolog, name="n"):
    return f"{prolog}{DEFINITIONS.format(BODY.format(name))}".encode()


def with_entities(declarations, name="&e;"):
    return after_prolog(f"<!DOCTYPE definitions [{declarations}]>", name)


def inside(content):
    return DEFINITIONS.format(f'<process id="p" isExecutable="true"><startEvent id="s" />{content}</process>').encode()


def many(attribute, count):
    attributes = " ".join(attribute.format(n=n) for n in range(count))
    return DEFINITIONS.format(f"<process {attributes} />").encode()


def laughs(count):
    entities = ['<!ENTITY e0 "ha">'] + [f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, count)]
    return with_entities("".join(entities), f"&e{count - 1};")


DOCTYPE = "a document type (DOCTYPE) is not allowed"
MALFORMED = "not well-formed XML"
DEEP = "nested deeper than 256 levels"

VECTORS: dict[str, tuple[bytes, str]] = {
    # external entities, by every road that libxml2 knows
    "entity of a file": (with_entities(f'<!ENTITY e SYSTEM "file://{SECRET}">'), DOCTYPE),
    "entity of a path": (with_entities(f'<!ENTITY e SYSTEM "{SECRET}">'), DOCTYPE),
    "entity of a relative path": (with_entities('<!ENTITY e SYSTEM "../../etc/passwd">'), DOCTYPE),
    "entity over http": (with_entities('<!ENTITY e SYSTEM "http://127.0.0.1:9/x">'), DOCTYPE),
    "entity over ftp": (with_entities('<!ENTITY e SYSTEM "ftp://127.0.0.1:9/x">'), DOCTYPE),
    "entity with a public id": (with_entities('<!ENTITY e PUBLIC "-//X//Y" "http://127.0.0.1:9/x">'), DOCTYPE),
    "entity by a php filter": (with_entities('<!ENTITY e SYSTEM "php://filter/resource=/etc/passwd">'), DOCTYPE),
    "entity by data address": (with_entities('<!ENTITY e SYSTEM "data:text/plain,x">'), DOCTYPE),
    "unparsed entity": (with_entities('<!NOTATION n SYSTEM "n"><!ENTITY e SYSTEM "x" NDATA n>'), DOCTYPE),
    "parameter entity": (with_entities(f'<!ENTITY % p SYSTEM "file://{SECRET}"> %p;', "n"), DOCTYPE),
    "parameter entity that declares one": (with_entities("<!ENTITY % p \"<!ENTITY e 'x'>\"> %p;"), DOCTYPE),
    "external subset": (after_prolog('<!DOCTYPE definitions SYSTEM "http://127.0.0.1:9/x.dtd">'), DOCTYPE),
    "external subset of a file": (after_prolog(f'<!DOCTYPE definitions SYSTEM "file://{SECRET}">'), DOCTYPE),
    "public external subset": (after_prolog('<!DOCTYPE definitions PUBLIC "-//X//Y" "http://127.0.0.1:9/x">'), DOCTYPE),
    "external subset, standalone": (
        after_prolog('<?xml version="1.0" standalone="no"?><!DOCTYPE definitions SYSTEM "http://127.0.0.1:9/x">'),
        DOCTYPE,
    ),
    "entity in an attribute": (with_entities('<!ENTITY e "injected">'), DOCTYPE),
    "default attributes": (with_entities('<!ATTLIST process isExecutable CDATA "true">', "n"), DOCTYPE),
    "empty internal subset": (with_entities("", "n"), DOCTYPE),
    "doctype alone": (after_prolog("<!DOCTYPE definitions>"), DOCTYPE),
    "doctype behind comments": (after_prolog("<!-- a --> <?pi?>\n<!-- b --><!DOCTYPE definitions>"), DOCTYPE),
    "doctype that nobody closes": (b"<!DOCTYPE definitions [", DOCTYPE),
    "doctype in UTF-16": (with_entities('<!ENTITY e "x">').decode().encode("utf-16"), DOCTYPE),
    "doctype in UTF-16 without a mark": (with_entities('<!ENTITY e "x">').decode().encode("utf-16-be"), DOCTYPE),
    "doctype in the middle": (inside("<!DOCTYPE x>"), MALFORMED),
    "doctype in small letters": (after_prolog("<!doctype definitions>"), MALFORMED),
    # entities that grow
    "billion laughs": (laughs(10), DOCTYPE),
    "a few laughs": (laughs(3), DOCTYPE),
    "quadratic growth": (with_entities(f'<!ENTITY e "{"x" * 50_000}">', "&e;" * 1000), DOCTYPE),
    "entity of itself": (with_entities('<!ENTITY e "&e;">'), DOCTYPE),
    "entities of each other": (with_entities('<!ENTITY e "&f;"><!ENTITY f "&e;">'), DOCTYPE),
    "entity that nobody declared": (inside("&nobody;"), MALFORMED),
    "entity that nobody declared, in an attribute": (after_prolog("", "&nobody;"), MALFORMED),
    "include of a file": (
        inside(f'<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="{SECRET}" parse="text" />'),
        "'include' of namespace 'http://www.w3.org/2001/XInclude' belongs into extensionElements",
    ),
    # size and depth
    "too large": (b"<" + b" " * (4 * 1024 * 1024), "at most 4194304 are read"),
    "too many tags": (inside("<a/>" * 100_000), "more than 100000 tags"),
    "too deep": (inside("<subProcess>" * 300 + "</subProcess>" * 300), DEEP),
    "much too deep": (inside("<a>" * 90_000), DEEP),
    "deep in extension elements": (
        inside(f"<extensionElements>{'<a>' * 300}{'</a>' * 300}</extensionElements>"),
        DEEP,
    ),
    "deep outside of the process": (DEFINITIONS.format("<a>" * 300 + "</a>" * 300).encode(), DEEP),
    "one level too deep": (b"<a>" * 257 + b"</a>" * 257, DEEP),
    "many attributes": (
        many("a{n}=''", 200_000),
        "no process in it is executable",
    ),
    "an attribute many times": (b"<definitions " + b"a='' " * 100_000 + b"/>", MALFORMED),
    "many namespaces": (
        many("xmlns:a{n}='u{n}'", 20_000),
        "no process in it is executable",
    ),
    "long name": (b"<" + b"a" * 1_000_000 + b"/>", MALFORMED),
    "long root": (b"<" + b"a" * 49_000 + b"/>", "not a BPMN 2.0 file"),
    "long namespace": (f'<definitions xmlns="{"u" * 1_000_000}" />'.encode(), "not a BPMN 2.0 file"),
    "long id": (inside(f'<endEvent id="{"x" * 1_000_000}" />'), "the id has more than 255 characters"),
    "long reference": (
        inside(f'<sequenceFlow id="f" sourceRef="s" targetRef="{"x" * 1_000_000}" />'),
        "is not a flow node of this process",
    ),
    "long comment": (b"<!--" + b"x" * 3_000_000, MALFORMED),
    "many comments": (b"<!---->" * 90_000, MALFORMED),
    "many instructions": (b"<?a?>" * 90_000, MALFORMED),
    "much white space": (b" " * 4_000_000, MALFORMED),
    "long text": (inside("x" * 3_000_000 + "<a/>"), "has no place here"),
    # not XML at all, or broken
    "nothing": (b"", MALFORMED),
    "a zero": (b"\x00", MALFORMED),
    "zeros": (b"\x00" * 1000, MALFORMED),
    "spaces": (b" \n ", MALFORMED),
    "JSON": (b'{"a": 1}', MALFORMED),
    "a ZIP file": (b"PK\x03\x04\x14\x00\x08\x08", MALFORMED),
    "a PNG file": (b"\x89PNG\r\n\x1a\n\x00\x00", "not valid UTF-8"),
    "half a tag": (b"<definitions", MALFORMED),
    "tag that nobody closes": (b"<definitions>", MALFORMED),
    "tags in the wrong order": (b"<a><b></a></b>", MALFORMED),
    "two roots": (b"<a/><b/>", MALFORMED),
    "text behind the root": (GOOD.encode() + b"x", MALFORMED),
    "a zero inside": (after_prolog("", "a\x00b"), MALFORMED),
    "a control character": (after_prolog("", "a\x01b"), MALFORMED),
    "a reference to zero": (after_prolog("", "&#0;"), MALFORMED),
    "a reference to a surrogate": (after_prolog("", "&#xD800;"), MALFORMED),
    "a reference beyond Unicode": (after_prolog("", "&#x110000;"), MALFORMED),
    "a noncharacter": (after_prolog("", "\uffff"), MALFORMED),
    "an attribute twice": (b'<definitions a="1" a="2"/>', MALFORMED),
    "an id twice by namespace": (
        f'<definitions xmlns="{BPMN}" xmlns:a="u" xmlns:b="u" a:x="1" b:x="2" />'.encode(),
        MALFORMED,
    ),
    "a prefix that nobody declared": (b"<bpmn:definitions />", MALFORMED),
    "less-than in an attribute": (after_prolog("", "<"), MALFORMED),
    "CDATA that nobody closes": (inside("<![CDATA["), MALFORMED),
    "comment with two dashes": (inside("<!-- a -- b -->"), MALFORMED),
    "declaration in the middle": (inside('<?xml version="1.0"?>'), MALFORMED),
    "declaration behind a space": (after_prolog(' <?xml version="1.0"?>'), MALFORMED),
    # encodings
    "UTF-8 that is none": (after_prolog("").replace(b'"n"', b'"\xff"'), "not valid UTF-8"),
    "overlong UTF-8": (after_prolog("").replace(b'"n"', b'"\xc0\xaf"'), "not valid UTF-8"),
    "a surrogate in UTF-8": (after_prolog("").replace(b'"n"', b'"\xed\xa0\x80"'), "not valid UTF-8"),
    "half a character of UTF-16": (GOOD.encode("utf-16") + b"x", "not valid UTF-16"),
    "a lone surrogate in UTF-16": (
        b"\xff\xfe" + GOOD.replace("{}", "\ud800").encode("utf-16-le", "surrogatepass"),
        "not valid UTF-16",
    ),
    "UTF-32": (GOOD.encode("utf-32"), "the encoding UTF-32 is not read"),
    "UTF-32, big end first": (b"\x00\x00\xfe\xff" + GOOD.encode("utf-32-be"), "the encoding UTF-32 is not read"),
    "UTF-7": (after_prolog('<?xml version="1.0" encoding="UTF-7"?>'), "the encoding 'UTF-7': not read"),
    "EBCDIC": (after_prolog('<?xml version="1.0" encoding="cp037"?>').decode().encode("cp037"), "not valid UTF-8"),
    "EBCDIC in name only": (after_prolog('<?xml version="1.0" encoding="cp037"?>'), "the encoding 'cp037': not read"),
    "UTF-16 in name only": (
        after_prolog('<?xml version="1.0" encoding="UTF-16"?>'),
        "the file declares it but is not written in it",
    ),
    "a codec of Python": (after_prolog('<?xml version="1.0" encoding="rot13"?>'), "the encoding 'rot13': not read"),
    "an encoding that does not exist": (
        after_prolog('<?xml version="1.0" encoding="x"?>'),
        "the encoding 'x': not read",
    ),
    "no encoding": (after_prolog('<?xml version="1.0" encoding=""?>'), "the encoding '': not read"),
    "ASCII that is none": (
        after_prolog('<?xml version="1.0" encoding="us-ascii"?>', "ü"),
        "not valid ASCII",
    ),
    # other documents
    "HTML": (b"<html><body/></html>", "not a BPMN 2.0 file: its root is 'html' of namespace ''"),
    "definitions of no namespace": (b"<definitions/>", "not a BPMN 2.0 file"),
    "a decision": (
        b'<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" />',
        "its root is 'definitions' of namespace 'https://www.omg.org/spec/DMN/20191111/MODEL/'",
    ),
    "a process as the root": (f'<process xmlns="{BPMN}" />'.encode(), "not a BPMN 2.0 file"),
    "a draft of BPMN 2.0": (
        b'<definitions xmlns="http://schema.omg.org/spec/BPMN/2.0" />',
        "not a BPMN 2.0 file",
    ),
}


@pytest.mark.parametrize(("content", "message"), VECTORS.values(), ids=VECTORS)
def test_hostile_files_are_refused_at_once(content, message):
    started = time.process_time()
    parsed = parse(content, "hostile.bpmn")
    assert time.process_time() - started < 1
    assert parsed.processes == ()
    assert message in parsed.problems[0].message
    assert all(len(problem.message) < 400 for problem in parsed.problems)
    assert all(problem.line is None or problem.line >= 1 for problem in parsed.problems)


def test_there_are_enough_vectors():
    assert len(VECTORS) >= 60


ENTITIES = {
    "general": '<!ENTITY e SYSTEM "{}">',
    "parameter": '<!ENTITY % p SYSTEM "{}"> %p; <!ENTITY e "x">',
    "attribute default": '<!ENTITY e SYSTEM "{}"><!ATTLIST startEvent name CDATA "&e;">',
}


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret.txt"
    path.write_text("<!-- canary -->canary")
    return path


def entity_file(declaration, address):
    return with_entities(declaration.format(address), "n").replace(
        b"</process>", b"<documentation>&e;</documentation></process>"
    )


def test_a_careless_parser_would_read_the_file(secret):
    """The control: without this the two tests below could pass because the vector is no danger to anybody."""
    careless = etree.XMLParser(resolve_entities=True, load_dtd=True)
    root = etree.fromstring(entity_file(ENTITIES["general"], secret.as_uri()), careless)
    assert "canary" in "".join(root.itertext())


@pytest.mark.parametrize("declaration", ENTITIES.values(), ids=ENTITIES)
def test_no_file_is_read(secret, declaration):
    for address in (secret.as_uri(), str(secret)):
        parsed = parse(entity_file(declaration, address), "x")
        assert parsed.processes == ()
        assert "canary" not in str(parsed)


@pytest.mark.parametrize("declaration", ENTITIES.values(), ids=ENTITIES)
def test_behind_the_doctype_check_the_parser_reads_no_file_either(secret, declaration):
    content = entity_file(declaration, secret.as_uri())
    with pytest.raises(xml.Unreadable) as refusal:
        xml.parse_text(content.decode(), XmlLimits())
    assert "canary" not in str(refusal.value)


def test_behind_the_doctype_check_entities_stay_unresolved(secret):
    root = etree.fromstring(entity_file(ENTITIES["general"], secret.as_uri()), xml.safe_parser())
    assert b"canary" not in etree.tostring(root, method="text")


@pytest.mark.parametrize("load", [True, False])
def test_behind_the_doctype_check_the_parser_loads_no_document_type(tmp_path, load):
    path = tmp_path / "external.dtd"
    path.write_text("<!ENTITY e 'canary'>")
    parser = etree.XMLParser(resolve_entities=False, load_dtd=True) if load else xml.safe_parser()
    root = etree.fromstring(after_prolog(f'<!DOCTYPE definitions SYSTEM "{path.as_uri()}">'), parser)
    assert (root.getroottree().docinfo.externalDTD is not None) == load


@pytest.mark.parametrize("declaration", ENTITIES.values(), ids=ENTITIES)
def test_no_connection_is_made(declaration):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/x"
        content = entity_file(declaration, address)
        parse(content, "x")
        with pytest.raises(xml.Unreadable):
            xml.parse_text(content.decode(), XmlLimits())
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.parametrize(
    ("prolog", "line"),
    [
        ("<!DOCTYPE definitions>", 1),
        ('<?xml version="1.0"?>\n<!DOCTYPE definitions>', 2),
        ("<!-- \n\n -->\n<!DOCTYPE definitions>", 4),
    ],
)
def test_the_line_of_a_doctype_is_told(prolog, line):
    assert parse(after_prolog(prolog), "x").problems[0].line == line


def test_the_line_of_a_syntax_error_is_told():
    assert parse(b"<a>\n\n<b>\n</a>", "x").problems[0].line == 4


def test_the_line_of_a_wrong_byte_is_told():
    assert parse(b"<a>\n\n\xff</a>", "x").problems[0].line == 3


@pytest.mark.parametrize("place", ["<!-- <!DOCTYPE x> -->", "<?note <!DOCTYPE x> ?>"])
def test_the_word_doctype_is_allowed_where_it_is_text(place):
    assert parse(after_prolog(place), "x").problems == ()
    assert parse(inside(place), "x").problems == ()
    assert parse(inside("<documentation><![CDATA[<!DOCTYPE html>]]></documentation>"), "x").problems == ()


def test_the_deepest_file_that_is_read():
    """Sub-processes in each other, down to the limit of elements: definitions, process, and the start event."""
    depth = 256 - 3
    scopes = "".join(f'<subProcess id="x{n}"><startEvent id="i{n}" />' for n in range(depth))
    parsed = parse(inside(scopes + "</subProcess>" * depth), "x")
    assert parsed.problems == ()
    assert len(parsed.processes[0].nodes) == 2 + 2 * depth


def test_long_names_are_not_kept_in_memory():
    """lxml repeats the namespace in the name of each element: 10 MB here, and gigabytes in the largest file."""
    few, many = (
        inside(
            f'<extensionElements xmlns:x="urn:{"x" * length}">'
            f"{''.join(f'<x:e{n} />' for n in range(50))}</extensionElements>"
        )
        for length in (1, 200_000)
    )
    parse(few, "a.bpmn")
    tracemalloc.start()
    try:
        parse(many, "a.bpmn")
        assert tracemalloc.get_traced_memory()[0] < 1_000_000
    finally:
        tracemalloc.stop()


def test_limits_are_settings():
    assert "at most 10 are read" in parse(GOOD.encode(), "x", XmlLimits(bytes=10)).problems[0].message
    assert "more than 3 tags" in parse(GOOD.encode(), "x", XmlLimits(tags=3)).problems[0].message
    assert "deeper than 2 levels" in parse(GOOD.encode(), "x", XmlLimits(depth=2)).problems[0].message
    assert "more than 0 flow nodes" in parse(GOOD.encode(), "x", XmlLimits(nodes=0)).problems[0].message


def test_a_large_file_of_problems_is_answered_in_time():
    content = inside("".join(f'<implicitThrowEvent id="u{n}" name="&lt;" default="x" />' for n in range(9_000)))
    started = time.process_time()
    assert len(parse(content, "x").problems) == 201
    assert time.process_time() - started < 1


def wide(count, node, root="", inside_host=""):
    """`count` copies of a node, and as many of what they refer to."""
    nodes = "".join(node.format(n=n) for n in range(count))
    roots = "".join(root.format(n=n) for n in range(count))
    process = f'<process id="p" isExecutable="true"><startEvent id="s" />{inside_host}{nodes}</process>'
    return DEFINITIONS.format(process + roots).encode()


ERROR = '<errorEventDefinition errorRef="e{n}" />'
LARGE = {
    "boundary events of one task": wide(
        4_000,
        f'<boundaryEvent id="b{{n}}" attachedToRef="h">{ERROR}</boundaryEvent>',
        '<error id="e{n}" errorCode="c{n}" />',
        '<task id="h" />',
    ),
    "event sub-processes of one scope": wide(
        3_000,
        f'<subProcess id="b{{n}}" triggeredByEvent="true"><startEvent id="x{{n}}">{ERROR}</startEvent></subProcess>',
        '<error id="e{n}" errorCode="c{n}" />',
    ),
    "links to one event": wide(
        5_000,
        '<intermediateThrowEvent id="t{n}"><linkEventDefinition name="L" /></intermediateThrowEvent>',
        inside_host='<intermediateCatchEvent id="c"><linkEventDefinition name="L" /></intermediateCatchEvent>',
    ),
    "a join of many flows": wide(
        700, '<sequenceFlow id="f{n}" sourceRef="s" targetRef="j" />', inside_host='<inclusiveGateway id="j" />'
    ),
    "joins one beside the other": wide(
        200,
        '<inclusiveGateway id="j{n}" /><task id="t{n}" /><sequenceFlow id="f{n}" sourceRef="j{n}" targetRef="t{n}" />'
        '<sequenceFlow id="g{n}" sourceRef="s" targetRef="j{n}" />'
        '<sequenceFlow id="h{n}" sourceRef="s" targetRef="j{n}" />',
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("content", LARGE.values(), ids=LARGE)
def test_large_files_are_read_in_time(content):
    started = time.process_time()
    assert parse(content, "large.bpmn").problems == ()
    assert time.process_time() - started < 2.5, "half a second on a quiet machine; a square of the size takes longer"


def test_more_joins_than_can_be_looked_at_in_time_are_refused():
    """2,000 joins one behind the other: each would look at all that is before it."""
    links = "".join(
        f'<sequenceFlow id="x{n}" sourceRef="{"s" if n == 0 else f"j{n - 1}"}" targetRef="j{n}" />'
        f'<sequenceFlow id="y{n}" sourceRef="{"s" if n == 0 else f"j{n - 1}"}" targetRef="j{n}">'
        "<conditionExpression>=true</conditionExpression></sequenceFlow>"
        for n in range(2_000)
    )
    content = inside("".join(f'<inclusiveGateway id="j{n}" />' for n in range(2_000)) + links)
    started = time.process_time()
    problems = parse(content, "large.bpmn").problems
    assert time.process_time() - started < 2
    assert ["are too many for the size of their scopes" in problem.message for problem in problems] == [True]
