"""A decision model as plain data: what a file says, before anything is compiled. It can be pickled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

CAMUNDA, DMN = "camunda", "dmn"
MODES = (DMN, CAMUNDA)
"""The ways to evaluate a model: as DMN says, or as Camunda 8 does (docs/decisions.md)."""


@dataclass(frozen=True, slots=True)
class InformationItem:
    """The name and type of a value. The type is empty if the file gives none."""

    name: str
    type_ref: str = ""


# Logic ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Text:
    """FEEL in the file, in a table or as a literal expression. `id` and `line` are for messages."""

    text: str
    id: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class InputColumn:
    """`values` are the allowed values: unary tests, or empty."""

    id: str
    label: str
    expression: Text
    type_ref: str = ""
    values: Text | None = None


@dataclass(frozen=True, slots=True)
class OutputColumn:
    """`values` are the allowed values, in the order of their priority; `default` counts if no rule matches."""

    id: str
    label: str
    name: str
    type_ref: str = ""
    values: Text | None = None
    default: Text | None = None


@dataclass(frozen=True, slots=True)
class TableRule:
    """An entry is None if it is empty: any input, or no output."""

    id: str
    inputs: tuple[Text | None, ...]
    outputs: tuple[Text | None, ...]
    line: int | None = None
    annotations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    hit_policy: str
    aggregation: str
    inputs: tuple[InputColumn, ...]
    outputs: tuple[OutputColumn, ...]
    rules: tuple[TableRule, ...]
    id: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class ContextEntry:
    """`variable` is None for the entry that is the result."""

    variable: InformationItem | None
    logic: Logic


@dataclass(frozen=True, slots=True)
class Context:
    entries: tuple[ContextEntry, ...]


@dataclass(frozen=True, slots=True)
class ArgumentBinding:
    parameter: InformationItem
    logic: Logic | None


@dataclass(frozen=True, slots=True)
class Invocation:
    function: Logic
    bindings: tuple[ArgumentBinding, ...]


@dataclass(frozen=True, slots=True)
class Relation:
    columns: tuple[InformationItem, ...]
    rows: tuple[tuple[Logic, ...], ...]


@dataclass(frozen=True, slots=True)
class ListOf:
    items: tuple[Logic, ...]


@dataclass(frozen=True, slots=True)
class FunctionDefinition:
    parameters: tuple[InformationItem, ...]
    body: Logic | None
    type_ref: str = ""


@dataclass(frozen=True, slots=True)
class External:
    """A function of Java in place of a body. `mapping` gives its class and its signature."""

    mapping: Logic
    id: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Conditional:
    condition: Logic
    then: Logic
    otherwise: Logic


@dataclass(frozen=True, slots=True)
class BoxedFilter:
    items: Logic
    condition: Logic


@dataclass(frozen=True, slots=True)
class Iteration:
    """A boxed `for`, `some` or `every`."""

    kind: str
    variable: str
    items: Logic
    body: Logic


@dataclass(frozen=True, slots=True)
class Unsupported:
    """Logic that has a problem. Its evaluation fails with the message."""

    message: str


Logic: TypeAlias = (
    Text
    | Table
    | Context
    | Invocation
    | Relation
    | ListOf
    | FunctionDefinition
    | External
    | Conditional
    | BoxedFilter
    | Iteration
    | Unsupported
)


# Elements -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ElementReference:
    """A reference to an element: the namespace of its file, empty for the own file, and its id."""

    namespace: str
    id: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class InputData:
    id: str
    name: str
    variable: InformationItem
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    id: str
    name: str
    variable: InformationItem
    logic: Logic | None
    inputs: tuple[ElementReference, ...] = ()
    decisions: tuple[ElementReference, ...] = ()
    knowledge: tuple[ElementReference, ...] = ()
    version_tag: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Knowledge:
    """A business knowledge model: a function, and the functions that it may call."""

    id: str
    name: str
    variable: InformationItem
    function: FunctionDefinition
    knowledge: tuple[ElementReference, ...] = ()
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Service:
    """A decision service: a function of its input data and input decisions."""

    id: str
    name: str
    variable: InformationItem
    outputs: tuple[ElementReference, ...] = ()
    encapsulated: tuple[ElementReference, ...] = ()
    decisions: tuple[ElementReference, ...] = ()
    inputs: tuple[ElementReference, ...] = ()
    line: int | None = None


Element: TypeAlias = InputData | Decision | Knowledge | Service


@dataclass(frozen=True, slots=True)
class ItemDefinition:
    """A type. `allowed` are unary tests on the value, of each item if the type is a list (`is_list`)."""

    name: str
    type_ref: str = ""
    components: tuple[ItemDefinition, ...] = ()
    is_list: bool = False
    allowed: Text | None = None
    constraint: Text | None = None
    function: FunctionType | None = None


@dataclass(frozen=True, slots=True)
class FunctionType:
    parameters: tuple[InformationItem, ...]
    result: str


@dataclass(frozen=True, slots=True)
class Import:
    name: str
    namespace: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Definitions:
    """A file of decisions, which Camunda calls decision requirements."""

    resource: str
    id: str
    name: str
    namespace: str
    mode: str
    """The mode that the file's origin suggests."""
    elements: dict[str, Element] = field(default_factory=dict)
    types: tuple[ItemDefinition, ...] = ()
    imports: tuple[Import, ...] = ()

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """The decisions in document order."""
        return tuple(each for each in self.elements.values() if isinstance(each, Decision))
