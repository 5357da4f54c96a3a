"""kill -9 of a program at each step of an agent: an answer that was stored is paid once, and the agent goes on."""

from dataclasses import dataclass, field

import psycopg
import pytest
import trio

from tests.engine.connectors.agent_models import TOOLS, Script, agent, chat
from tests.engine.connectors.conftest import serving
from tests.eventually import eventually
from tests.process.conftest import UNSAFE
from tests.process.http_client import Caller
from tests.process.load import send_files
from tests.process.rows import rows

ALLOWED = {
    "VIVERO_CONNECTORS_ENABLED": "on",
    "VIVERO_CONNECTORS_ALLOWED_TARGETS": "127.0.0.1",
    "VIVERO_AGENTS_PROVIDERS": "openaiCompatible",
    "VIVERO_AGENTS_ENDPOINTS": "127.0.0.1",
    "VIVERO_SECRET_KEY": "canary-secret",
}
HOLD = "BEGIN; LOCK TABLE element_instances IN SHARE MODE"
"""No step of an instance commits. Answers of models have a table of their own."""
END_OTHERS = (
    "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
    " WHERE datname = current_database() AND application_name LIKE 'vivero:%'"
)
SHORT = '<zeebe:header key="jobTimeout" value="PT10S"/>'
"""The lease of the job. The killed node has it still."""
STATE = "SELECT state FROM process_instances"


@pytest.mark.long
async def test_a_stored_answer_is_not_paid_again(make_program, database):
    """Situation 10."""
    program, script = make_program("--database-url", database, environment=UNSAFE | ALLOWED), Script([chat("Done.")])
    with psycopg.connect(database, autocommit=True) as other:

        def answer(request):
            if not script.bodies:
                other.execute(HOLD)
            return script(request)

        async with serving(answer) as server:
            await program.restart()
            async with Caller(program.port) as caller:
                await send_files(caller, {"agent.bpmn": agent(server.url, headers=SHORT).decode()})
                given = {"processDefinitionId": "p", "variables": {"question": "Go?"}}
                created = await caller.call("POST", "/v2/process-instances", given)
                assert created.status == 200, created

            async def is_kept():
                return rows(database, "SELECT count(*) FROM agent_answers") == [(1,)]

            await eventually(is_kept, "the answer is kept")
            await program.kill()
            other.execute(END_OTHERS)  # a session may have all of its transaction, and commit it without its client
            other.execute("COMMIT")
            assert rows(database, STATE) == [("ACTIVATED",)], "nothing of the answer has reached the instance"
            await program.restart()

            async def has_ended():
                return rows(database, STATE) == [("COMPLETED",)]

            await eventually(has_ended, "the instance goes on with the answer", within_s=180.0)
        assert len(script.bodies) == 1


ASKED, ANSWERED, STORED = "while the model is asked", "as the model has answered", "as the answer is stored"
PAY = (
    '<serviceTask id="Pay"><extensionElements><zeebe:taskDefinition type="pay"/><zeebe:properties>'
    '<zeebe:property name="vivero.approval" value="always"/></zeebe:properties></extensionElements></serviceTask>'
)
TURNS = [
    chat(None, ("w", "Weather", {"city": "Bonn"}), ("s", "Slow", {})),
    chat("It rains.", ("p", "Pay", {"euros": 5})),
    chat("Done."),
]


@dataclass
class Counter:
    """A provider that counts what it is paid for. The first request of a turn whose answer is never to come waits."""

    points: list
    asked: list = field(default_factory=lambda: [0] * len(TURNS))
    paid: list = field(default_factory=lambda: [0] * len(TURNS))

    async def answer(self, request):
        turn = sum(one["role"] == "assistant" for one in request.json["messages"])
        self.asked[turn] += 1
        if self.points[turn] == ASKED and self.asked[turn] == 1:
            await trio.sleep_forever()
        self.paid[turn] += 1
        return 200, {}, TURNS[turn]


@pytest.mark.long
async def test_killed_at_each_step(make_program, database, random_faults):
    """Situation 10, and the steps of tools and approvals. Each turn has another point, by chance."""
    points = random_faults.sample([ASKED, ANSWERED, STORED], 3)
    print(points)
    program, provider = make_program("--database-url", database, environment=UNSAFE | ALLOWED), Counter(points)

    async def killed_when(query, what, holds):
        async def seen():
            return holds(rows(database, query)[0][0]) if query else holds(None)

        await eventually(seen, what, within_s=90.0)
        await program.kill()
        await program.restart()

    async def called(method, path, body):
        async with Caller(program.port) as caller:
            answer = await caller.call(method, path, body)
        assert answer.status < 300, answer.body
        return answer.json

    async def worked(type):
        """A worker completes the job of a tool. The leases of others end with time."""
        jobs = []

        async def got():
            ask = {"type": type, "timeout": 60_000, "maxJobsToActivate": 1, "worker": "w", "requestTimeout": -1}
            jobs.extend((await called("POST", "/v2/jobs/activation", ask))["jobs"])
            return jobs

        await eventually(got, f"a job of {type}", within_s=90.0)
        await called("POST", f"/v2/jobs/{jobs[0]['jobKey']}/completion", {"variables": {"toolCallResult": type}})

    async def passed(turn):
        """The program is killed at the point of a turn."""
        if points[turn] == STORED:
            await killed_when(CALLS, f"turn {turn} is stored", lambda count: count > turn)
        else:
            counts = provider.asked if points[turn] == ASKED else provider.paid
            await killed_when(None, f"turn {turn} {points[turn]}", lambda _: counts[turn])

    async with serving(provider.answer) as server:
        await program.restart()
        model = agent(server.url, tools=TOOLS + PAY, headers=SHORT).decode()
        async with Caller(program.port) as caller:
            await send_files(caller, {"agent.bpmn": model})
        await called("POST", "/v2/process-instances", {"processDefinitionId": "p", "variables": {"question": "Go?"}})
        await passed(0)
        await killed_when(TOOL, "the tool runs", lambda count: count == 1)
        await worked("slow")
        await passed(1)
        await killed_when(TASK, "a person is asked", lambda count: count == 1)
        ((task,),) = rows(database, "SELECT user_task_key FROM user_tasks WHERE state = 'CREATED'")
        await called("POST", f"/v2/user-tasks/{task}/completion", {"variables": {"approved": True}})
        await worked("pay")
        await passed(2)

        async def has_ended():
            return rows(database, STATE) == [("COMPLETED",)]

        await eventually(has_ended, "the agent has ended", within_s=90.0)
    assert rows(database, ANSWER) == [("Done.",)]
    for turn, point in enumerate(points):
        assert provider.paid[turn] <= 1 + (point == ANSWERED), (turn, point, provider.paid)
        assert provider.asked[turn] == provider.paid[turn] + (point == ASKED)
    assert rows(database, "SELECT count(*) FROM incidents") == [(0,)]


CALLS = "SELECT count(*) FROM agent_calls WHERE outcome = 'ANSWERED'"
TOOL = "SELECT count(*) FROM jobs WHERE element_id = 'Slow' AND ended_at IS NULL"
TASK = "SELECT count(*) FROM user_tasks WHERE state = 'CREATED'"
ANSWER = "SELECT value::jsonb ->> 'responseText' FROM variables WHERE name = 'answer'"
