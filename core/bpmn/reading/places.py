"""The places of elements in the diagram of a file (BPMN DI, BPMN 2.0.2 §12). The engine never reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vivero.core.bpmn.reading.xml import Element, read_document

BPMNDI = "{http://www.omg.org/spec/BPMN/20100524/DI}"
DC, DI = "{http://www.omg.org/spec/DD/20100524/DC}", "{http://www.omg.org/spec/DD/20100524/DI}"


@dataclass(frozen=True, slots=True)
class Bounds:
    """The place of an element, in units of the diagram (pixels of 96 to the inch)."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class DiagramPlaces:
    """The bounds of elements, and the ways (waypoints) of sequence flows, by id."""

    bounds: Mapping[str, Bounds]
    ways: Mapping[str, list[tuple[float, float]]]


def read_places(content: bytes) -> DiagramPlaces:
    """The places in a BPMN file. Those that are no numbers are left out. Raises Unreadable."""
    root = read_document(content)
    bounds = {each.get("bpmnElement", ""): _bounds(each) for each in root.iter(f"{BPMNDI}BPMNShape")}
    ways = {each.get("bpmnElement", ""): _way(each) for each in root.iter(f"{BPMNDI}BPMNEdge")}
    return DiagramPlaces({id: found for id, found in bounds.items() if found is not None}, ways)


def _bounds(shape: Element) -> Bounds | None:
    found = shape.find(f"{DC}Bounds")
    try:
        return None if found is None else Bounds(*(float(found.get(name, "")) for name in Bounds.__slots__))
    except ValueError:
        return None


def _way(edge: Element) -> list[tuple[float, float]]:
    try:
        return [(float(point.get("x", "")), float(point.get("y", ""))) for point in edge.findall(f"{DI}waypoint")]
    except ValueError:
        return []
