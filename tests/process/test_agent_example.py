"""examples/agent: the conversation is the one that its page shows, and its code for a language model works, too."""

import json
import os
import re
import runpy
import sys
from pathlib import Path

import trio

from vivero.core.bpmn.parser import parse

AGENT = Path(__file__).parents[2] / "examples" / "agent"
PAGE = (AGENT / "README.md").read_text()


async def test_the_agent_says_what_its_page_says(program):
    await program.restart()
    environment = os.environ | {"CAMUNDA_REST_ADDRESS": f"http://localhost:{program.port}"}
    command = [sys.executable, str(AGENT / "agent.py")]
    ran = await trio.run_process(command, env=environment, capture_stdout=True, capture_stderr=True, check=False)
    assert ran.returncode == 0, ran.stderr.decode()
    (shown,) = re.findall(r"^```\n(customer.*?)```", PAGE, re.MULTILINE | re.DOTALL)
    assert ran.stdout.decode() == shown


def test_a_language_model_decides_in_its_place():
    agent = runpy.run_path(str(AGENT / "agent.py"))
    (code,) = re.findall(r"^```python\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL)
    asked = []

    def ask_model(messages, tools):
        asked.append((messages, tools))
        call = {"function": {"name": "findOrder", "arguments": '{"order": 17}'}}
        return {"tool_calls": [call]} if len(asked) == 1 else {"content": "It is on its way."}

    names = {"json": json, "ask_model": ask_model, "answer": agent["answer"]}
    exec(code, names)
    (process,) = parse((AGENT / "support.bpmn").read_bytes(), "support.bpmn").processes
    variables = {"question": agent["QUESTION"], **process.nodes["agent"].presets}
    assert names["decide"](variables) == agent["use"]("findOrder", order=17)
    assert names["decide"](variables) == agent["answer"]("It is on its way.")
    assert [tool["function"]["name"] for tool in asked[0][1]] == ["findOrder", "trackParcel", "refund"]
    assert asked[0][1][0]["function"]["parameters"]["properties"] == {
        "order": {"type": "number", "description": "the number of the order"}
    }
