"""Global tasks at the top of a file, which call activities of the file call. BPMN 2.0.2 §10.3.6: a global task has no
flows of its own. Therefore each one that is called is replaced by a process with this task alone, and each call by a
call of that process.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lxml import etree

from vivero.core.bpmn.reading.xml import BPMN, ZEEBE, Element, bpmn_children, made, set_line, zeebe_children

TASKS: Mapping[str, str] = {
    "globalTask": "task",
    "globalManualTask": "manualTask",
    "globalUserTask": "userTask",
    "globalScriptTask": "scriptTask",
    "globalBusinessRuleTask": "businessRuleTask",
}
"""Global tasks, with the tasks that they are inside of their processes."""
_OF_CALLABLE = ("supportedInterfaceRef", "ioBinding")
"""Children of what can be called, which a task does not have."""


def make_processes(root: Element) -> None:
    """Replace each global task that an executable process of the file calls.

    A call names it by its id in `zeebe:calledElement`, or, without that, in `calledElement` (`xsd:QName`); then it
    means the version of this file.
    """
    tasks = {task.get("id", ""): task for task in bpmn_children(root, *TASKS)}
    if not tasks:
        return
    processes = bpmn_children(root, "process")
    calls = [call for process in processes for call in process.iter(f"{{{BPMN}}}callActivity") if _runs(process)]
    for id in tasks.keys() - {process.get("id") for process in processes}:
        called = [call for call in calls if _called(call) == id]
        if id and called:
            _become_process(tasks[id], id)
            for call in called:
                _name_process(call, id)


def _runs(process: Element) -> bool:
    return process.get("isExecutable", "").strip() in ("true", "1")


def _called(call: Element) -> str:
    """The id that a call names; not an expression."""
    given = next(_called_elements(call), None)
    return call.get("calledElement", "").rpartition(":")[2] if given is None else given.get("processId", "").strip()


def _called_elements(call: Element) -> Iterator[Element]:
    for extensions in bpmn_children(call, "extensionElements"):
        yield from zeebe_children(extensions, "calledElement")


def _name_process(call: Element, id: str) -> None:
    """Give a call of the attribute `calledElement` the extension that it would have as a call of a process."""
    if next(_called_elements(call), None) is None:
        extensions = next(iter(bpmn_children(call, "extensionElements")), None)
        if extensions is None:
            extensions = made("extensionElements", call, call, at=0)
        called = etree.SubElement(extensions, f"{{{ZEEBE}}}calledElement", processId=id, bindingType="deployment")
        set_line(called, call)
        del call.attrib["calledElement"]


def _become_process(task: Element, id: str) -> None:
    """Put a process around the task, with a start event that leads to it."""
    tag = etree.QName(task).localname
    process = etree.Element(f"{{{BPMN}}}process", id=id, isExecutable="true")
    if (name := task.get("name")) is not None:
        process.set("name", name)
    task.getparent().replace(task, process)  # type: ignore[union-attr]  # it stands at the top of the file
    set_line(process, task)
    made("startEvent", process, task, id=f"{id}#start")
    made("sequenceFlow", process, task, id=f"{id}#flow", sourceRef=f"{id}#start", targetRef=f"{id}#task")
    task.tag = f"{{{BPMN}}}{TASKS[tag]}"
    task.set("id", f"{id}#task")
    if (language := task.get("scriptLanguage")) is not None:
        task.set("scriptFormat", language)
        del task.attrib["scriptLanguage"]
    for child in bpmn_children(task, *_OF_CALLABLE):
        task.remove(child)
    process.append(task)
