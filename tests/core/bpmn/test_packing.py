"""Models on their way to another process: the same, in chunks of bounded size."""

import pickle
from dataclasses import fields, is_dataclass
from math import ceil
from pathlib import Path

import pytest

from vivero.core.bpmn.packing import CHUNK, pack, unpack
from vivero.core.bpmn.parser import parse
from vivero.core.feel import Expression
from vivero.core.resources.kinds import read_resource

MODELS = sorted((Path(__file__).parents[2] / "models").glob("*.*"))


def plain(value):
    """A value that can be compared. Expressions are equal if they mean the same."""
    if isinstance(value, Expression):
        return (value.text, value.variables, value.is_static, plain(value.static_value))
    if is_dataclass(value):
        return (type(value), *(plain(getattr(value, each.name)) for each in fields(value)))
    if isinstance(value, dict):
        return [(name, plain(item)) for name, item in value.items()]
    return list(map(plain, value)) if isinstance(value, tuple | list) else value


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.name)
def test_every_model_comes_out_as_it_went_in(path):
    parsed = read_resource(path.name, path.read_bytes())
    *_, whole = unpack(pickle.loads(pickle.dumps(pack(parsed))))
    assert plain(whole) == plain(parsed)


def test_a_large_model_is_unpacked_in_chunks():
    tasks = "".join(
        f'<bpmn:sequenceFlow id="f{i}" sourceRef="t{i}" targetRef="t{i + 1}"/><bpmn:task id="t{i}"/>'
        for i in range(1000)
    )
    content = (
        '<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="x">'
        '<bpmn:process id="p" isExecutable="true"><bpmn:startEvent id="s"/>'
        f'<bpmn:sequenceFlow id="f" sourceRef="s" targetRef="t0"/>{tasks}<bpmn:task id="t1000"/></bpmn:process>'
        "</bpmn:definitions>"
    )
    parsed = parse(content.encode(), "large.bpmn")
    *pauses, whole = unpack(pack(parsed))
    process = parsed.processes[0]
    assert len(pauses) == sum(ceil(len(each) / CHUNK) for each in (process.nodes, process.flows)) == 22
    assert set(pauses) == {None}
    assert list(whole.processes[0].nodes) == list(process.nodes)


def test_a_file_with_problems():
    parsed = parse(b"<nothing/>", "bad.bpmn")
    assert list(unpack(pack(parsed))) == [parsed]
