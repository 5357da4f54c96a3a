"""An agent without a language model: rules decide which tool of an ad-hoc sub-process comes next.

`decide` is the agent. It gets what is known so far, and says which tools to use, or what the answer is. Everything else
is the same with a language model: README.md shows the function that asks one.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

SERVER = os.environ.get("CAMUNDA_REST_ADDRESS", "http://localhost:8080").removesuffix("/v2")
QUESTION = "Where is my order 17?"

# ---- the agent


def decide(variables: dict[str, Any]) -> dict[str, Any]:
    """The completion of the agent's job: variables, and which of the `adHocSubProcessElements` come next."""
    known = {result["tool"]: result["result"] for result in variables["results"]}
    found = re.search(r"\d+", variables["question"])
    if found is None:
        return answer("Which order do you mean? Please give me its number.")
    order = int(found.group())
    if "findOrder" not in known:
        return use("findOrder", order=order)
    if "trackParcel" not in known:
        return use("trackParcel", parcel=known["findOrder"]["parcel"])
    parcel = known["trackParcel"]
    if parcel["daysLate"] > 0 and "refund" not in known:
        return use("refund", order=order)
    sorry = f" It is {parcel['daysLate']} days late: we have refunded the postage." if "refund" in known else ""
    return answer(f"Your {known['findOrder']['article']} is in {parcel['place']}.{sorry}")


def use(tool: str, **parameters: Any) -> dict[str, Any]:
    call = {"elementId": tool, "variables": {"toolCall": {"tool": tool} | parameters}}
    return {"result": {"type": "adHocSubProcess", "activateElements": [call]}}


def answer(text: str) -> dict[str, Any]:
    result = {"type": "adHocSubProcess", "isCompletionConditionFulfilled": True}
    return {"variables": {"answer": text}, "result": result}


# ---- its tools


def find_order(variables: dict[str, Any]) -> dict[str, Any]:
    return {"article": "lemon tree", "price": 49, "parcel": f"P-{variables['order']}"}


def track_parcel(variables: dict[str, Any]) -> dict[str, Any]:
    return {"place": "Valencia", "daysLate": 3 if variables["parcel"] == "P-17" else 0}


def refund_postage(variables: dict[str, Any]) -> dict[str, Any]:
    return {"order": variables["order"], "refunded": 5}


TOOLS = {"find-order": find_order, "track-parcel": track_parcel, "refund-postage": refund_postage}

# ---- the worker of all of them


def work(type: str) -> None:
    """Do the jobs of a type that there are."""
    asked = {"type": type, "maxJobsToActivate": 10, "timeout": 60_000, "requestTimeout": -1, "worker": "example"}
    for job in call("POST", "/v2/jobs/activation", asked)["jobs"]:
        if type == "support-agent":
            completion = decide(job["variables"])
            tools = [one["elementId"] for one in completion["result"].get("activateElements", ())]
            print(f"agent     {', '.join(tools) or completion['variables']['answer']}")
        else:
            completion = {"variables": {"toolResult": TOOLS[type](job["variables"])}}
            print(f"tool      {type}: {completion['variables']['toolResult']}")
        call("POST", f"/v2/jobs/{job['jobKey']}/completion", completion)


def call(method: str, path: str, body: Any = None, content: bytes = b"", type: str = "application/json") -> Any:
    data = content or (None if body is None else json.dumps(body).encode())
    with urlopen(Request(SERVER + path, data, {"Content-Type": type}, method=method)) as response:
        return json.loads(response.read() or b"null")


def deploy(path: Path) -> None:
    head = f'--part\r\nContent-Disposition: form-data; name="resources"; filename="{path.name}"\r\n\r\n'
    content = head.encode() + path.read_bytes() + b"\r\n--part--\r\n"
    call("POST", "/v2/deployments", content=content, type="multipart/form-data; boundary=part")


def main() -> None:
    deploy(Path(__file__).with_name("support.bpmn"))
    print(f"customer  {QUESTION}")
    created = {"processDefinitionId": "support", "variables": {"question": QUESTION}}
    key = call("POST", "/v2/process-instances", created)["processInstanceKey"]
    while call("GET", f"/v2/process-instances/{key}")["state"] == "ACTIVE":
        for type in ("support-agent", *TOOLS):
            work(type)


if __name__ == "__main__":
    main()
