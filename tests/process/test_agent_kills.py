"""kill -9 of a program between the answer of a model and the completion of its job: the answer is paid once."""

import psycopg
import pytest

from tests.engine.connectors.agent_models import Script, agent, chat
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
            other.execute("COMMIT")
            assert rows(database, STATE) == [("ACTIVATED",)], "nothing of the answer has reached the instance"
            await program.restart()

            async def has_ended():
                return rows(database, STATE) == [("COMPLETED",)]

            await eventually(has_ended, "the instance goes on with the answer", within_s=180.0)
        assert len(script.bodies) == 1
