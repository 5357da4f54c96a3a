"""Documents in prompts, results and events, and their files in the three protocols."""

import pytest
from msgspec.structs import replace

from tests.core.agents.agent_words import after_calls, asks, result, roles
from vivero.core.agents.errors import AgentError
from vivero.core.agents.memory.context import DocumentContent, FileContent, TextContent, UserMessage, written
from vivero.core.agents.memory.window import window
from vivero.core.agents.wires.providers import CHAT, CONVERSE, MESSAGES
from vivero.core.agents.wires.table import WIRES

BILL, PICTURE = {"camunda.document.type": "camunda", "documentId": "1"}, {"camunda.document.type": "camunda"}
CALL = ("a", "Weather", {"city": "Bonn"})


def documents(message):
    return [part.document for part in message.content if isinstance(part, DocumentContent)]


@pytest.mark.parametrize("prompt", ["Go?", ""])
def test_documents_of_a_prompt_stand_behind_its_text(prompt):
    message = asks(prompt=prompt, userPrompt__documents=[BILL, PICTURE]).request.messages[-1]
    assert documents(message) == [BILL, PICTURE]
    assert [part.text for part in message.content[:-2]] == ([prompt] if prompt else [])


@pytest.mark.parametrize("given", [["a text"], [{}], [BILL] * 21])
def test_what_is_no_list_of_documents_is_refused(given):
    with pytest.raises(AgentError, match=r"data\.userPrompt\.documents") as raised:
        asks(userPrompt__documents=given)
    assert raised.value.code == "UNSUPPORTED_DOCUMENT"


def test_documents_of_results_and_events_follow_them():
    context, _ = after_calls(CALL)
    event = {"id": None, "name": None, "content": {"photo": PICTURE}}
    ask = asks(context=context, results=[result("a", {"files": [BILL, {"more": BILL}]}), event])
    assert roles(ask) == ["system", "user", "assistant", "tool_call_result", "user", "user", "user"]
    of_tool, _, of_event = ask.request.messages[-3:]
    assert documents(of_tool) == [BILL, BILL]
    assert of_tool.content[0].text == "Document 1 in the result of Weather, call a:"
    assert written(ask.context)["conversation"]["messages"][-3]["metadata"] == {"toolCallDocuments": True}
    assert documents(of_event) == [PICTURE]
    again = asks(context=written(ask.context), results=[])
    assert roles(again)[-1] == "user", "the context can be read again"


def test_a_flood_of_documents_is_cut():
    context, _ = after_calls(CALL)
    message = asks(context=context, results=[result("a", [BILL] * 50)]).request.messages[-1]
    assert len(documents(message)) == 20
    assert message.content[-1].text == "Further documents are left out."


def test_documents_of_results_leave_the_window_with_them_and_are_not_counted():
    """Situation 15."""
    context, _ = after_calls(CALL)
    messages = asks(context=context, results=[result("a", BILL)]).request.messages
    assert [message.__struct_config__.tag for message in window(messages, 3)] == [
        *("system", "user", "assistant", "tool_call_result", "user")
    ]
    later = [*messages, UserMessage([TextContent("and?")], {})]
    kept = [message.__struct_config__.tag for message in window(later, 2)]
    assert kept == ["system", "user"], "neither results nor documents without their call"


def files():
    request = asks(userPrompt__documents=[BILL]).request
    *before, prompt = request.messages
    read = [FileContent("a.png", "image/png", "UE5H"), FileContent("b.pdf", "application/pdf", "UERG")]
    return type(request)([*before, replace(prompt, content=[prompt.content[0], *read])], request.tools, request.format)


@pytest.mark.parametrize(
    ("wire", "picture", "pdf"),
    [
        (
            CHAT,
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,UE5H"}},
            {"type": "file", "file": {"filename": "b.pdf", "file_data": "data:application/pdf;base64,UERG"}},
        ),
        (
            MESSAGES,
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "UE5H"}},
            {
                "type": "document",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "UERG"},
                "title": "b.pdf",
            },
        ),
        (
            CONVERSE,
            {"image": {"format": "png", "source": {"bytes": "UE5H"}}},
            {"document": {"format": "pdf", "name": "document ecdfa501", "source": {"bytes": "UERG"}}},
        ),
    ],
)
def test_files_in_each_protocol(wire, picture, pdf):
    message = WIRES[wire].body(files(), "m", {})["messages"][-1]
    assert message["role"] == "user"
    assert message["content"][0]["text"] == "Go?"
    assert message["content"][1:] == [picture, pdf]


@pytest.mark.parametrize("wire", [CHAT, MESSAGES, CONVERSE])
def test_a_document_that_was_not_read_is_not_left_out(wire):
    with pytest.raises(AgentError, match="documents are not supported here"):
        WIRES[wire].body(asks(userPrompt__documents=[BILL]).request, "m", {})
