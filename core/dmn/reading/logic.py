"""Boxed expressions: the element of a file to a node of the model (DMN 1.5, 7.3 and 10.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from vivero.core.bpmn.reading.report import Report, quote
from vivero.core.bpmn.reading.xml import Element, line_of, split
from vivero.core.dmn import model
from vivero.core.dmn.model import Logic, Text
from vivero.core.dmn.reading.tables import read_table
from vivero.core.dmn.reading.texts import check_language, required_text
from vivero.core.dmn.reading.xml_names import child, children, normal_name, type_of, variable_of

MOST_LEVELS = 64
"""Boxed expressions within one another."""
NOTHING = Text("null")
"""Stands for logic with a problem, so that the rest of the file is read."""


class LogicReader:
    """Reads the logic of a file. `level` counts boxed expressions within one another."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self._level = 0

    def only(self, element: Element) -> Logic | None:
        """The boxed expression in an element; None if it has none."""
        found = [each for each in element if split(each)[1] in READERS and split(each)[0] == split(element)[0]]
        if len(found) > 1:
            self.report.add_problem(element, "one expression is expected but there are several", at=found[1])
        return self.read(found[0]) if found else None

    def required(self, element: Element, name: str | None = None) -> Logic:
        """The boxed expression in an element, or in its child `name`. A missing one is a problem."""
        holder = element if name is None else child(element, name)
        found = None if holder is None else self.only(holder)
        if found is None:
            tag = split(element)[1] if name is None else name
            self.report.add_problem(element, f"an expression is missing in {quote(tag)}")
        return found or NOTHING

    def read(self, element: Element) -> Logic:
        """A boxed expression."""
        self._level += 1
        if self._level > MOST_LEVELS:
            self.report.add_problem(element, f"boxed expressions are nested deeper than {MOST_LEVELS} levels")
            logic: Logic = NOTHING
        else:
            check_language(element, self.report)
            logic = READERS[split(element)[1]](element, self)
        self._level -= 1
        return logic


def _literal(element: Element, reader: LogicReader) -> Logic:
    return required_text(element, reader.report)


def _table(element: Element, reader: LogicReader) -> Logic:
    return read_table(element, reader.report)


def _context(element: Element, reader: LogicReader) -> Logic:
    entries, names = [], set()
    found = children(element, "contextEntry")
    for entry in found:
        declared = child(entry, "variable")
        variable = None if declared is None else variable_of(declared)
        if variable is None and entry is not found[-1]:
            reader.report.add_problem(element, "only the last entry of a context may lack a variable", at=entry)
        elif variable is not None and variable.name in names:
            reader.report.add_problem(
                element, f"two entries of the context have the name {quote(variable.name)}", at=entry
            )
        if variable is not None:
            names.add(variable.name)
        entries.append(model.ContextEntry(variable, reader.required(entry)))
    return model.Context(tuple(entries))


def _invocation(element: Element, reader: LogicReader) -> Logic:
    bindings = tuple(
        model.ArgumentBinding(variable_of(child(each, "parameter")), reader.only(each))
        for each in children(element, "binding")
    )
    return model.Invocation(reader.required(element), bindings)


def _relation(element: Element, reader: LogicReader) -> Logic:
    columns = tuple(variable_of(column) for column in children(element, "column"))
    rows = []
    for row in children(element, "row"):
        cells = [reader.read(cell) for cell in children(row, *READERS)]
        if len(cells) != len(columns):
            text = f"expected row with '{len(columns)}' elements but found '{len(cells)}'"
            reader.report.add_problem(element, text, at=row)
        rows.append(tuple(cells))
    return model.Relation(columns, tuple(rows))


def _list(element: Element, reader: LogicReader) -> Logic:
    return model.ListOf(tuple(reader.read(item) for item in children(element, *READERS)))


def read_function(element: Element, reader: LogicReader) -> model.FunctionDefinition:
    """A function definition, in a boxed expression or as the logic of a business knowledge model."""
    kind = element.get("kind", "FEEL").strip().upper()
    parameters = tuple(variable_of(each) for each in children(element, "formalParameter"))
    names = [parameter.name for parameter in parameters]
    for name in sorted({name for name in names if names.count(name) > 1}):
        reader.report.add_problem(element, f"two parameters have the name {quote(name)}")
    if kind == "JAVA":
        mapping = model.External(reader.required(element), element.get("id"), line_of(element))
        return model.FunctionDefinition(parameters, mapping, type_of(element))
    if kind != "FEEL":
        message = f"external functions (kind {quote(kind)}) are not supported"
        reader.report.add_problem(element, message)
        return model.FunctionDefinition(parameters, model.Unsupported(message), type_of(element))
    return model.FunctionDefinition(parameters, reader.only(element), type_of(element))


def _conditional(element: Element, reader: LogicReader) -> Logic:
    condition, then, otherwise = (reader.required(element, name) for name in ("if", "then", "else"))
    return model.Conditional(condition, then, otherwise)


def _filter(element: Element, reader: LogicReader) -> Logic:
    return model.BoxedFilter(reader.required(element, "in"), reader.required(element, "match"))


def _iteration(element: Element, reader: LogicReader) -> Logic:
    kind = split(element)[1]
    variable = normal_name(element.get("iteratorVariable"))
    if not variable:
        reader.report.add_problem(element, f"{quote(kind)} has no iterator variable (iteratorVariable)")
    body = reader.required(element, "return" if kind == "for" else "satisfies")
    return model.Iteration(kind, variable, reader.required(element, "in"), body)


READERS: Mapping[str, Callable[[Element, LogicReader], Logic]] = {
    "literalExpression": _literal,
    "decisionTable": _table,
    "context": _context,
    "invocation": _invocation,
    "relation": _relation,
    "list": _list,
    "functionDefinition": read_function,
    "conditional": _conditional,
    "filter": _filter,
    "for": _iteration,
    "some": _iteration,
    "every": _iteration,
}
"""The kinds of logic, by the name of their element."""
