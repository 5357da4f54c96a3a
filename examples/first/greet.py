import asyncio
from pathlib import Path

from camunda_orchestration_sdk import (
    CamundaAsyncClient,
    ConnectedJobContext,
    ProcessCreationById,
    ProcessDefinitionId,
    ProcessInstanceCreationInstructionBaseVariables,
    WorkerConfig,
)


async def greet(job: ConnectedJobContext) -> dict[str, object]:
    """The work behind the task: its result goes to the process as variables."""
    return {"greeting": f"Hello, {job.variables.to_dict()['name']}!"}


async def main() -> None:
    async with CamundaAsyncClient() as client:  # http://localhost:8080
        await client.deploy_resources_from_files([Path(__file__).with_name("greet.bpmn")])

        config = WorkerConfig(job_type="greet", job_timeout_milliseconds=30_000)
        client.create_job_worker(config=config, callback=greet)

        result = await client.create_process_instance(
            data=ProcessCreationById(
                process_definition_id=ProcessDefinitionId("greet"),
                variables=ProcessInstanceCreationInstructionBaseVariables.from_dict({"name": "Ada"}),
                await_completion=True,
            )
        )
        print(result.variables.to_dict()["greeting"])


asyncio.run(main())
