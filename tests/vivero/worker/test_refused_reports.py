"""Reports that the server refuses, or that cannot be sent: their jobs fail, so that nobody repeats them without end."""

import pytest

from tests.vivero.worker.stub_server import StubServer, job, refused
from vivero.worker import Job, JobError, JobFailed, JobOutcome, Worker


@pytest.fixture
def reports():
    return []


@pytest.fixture
def work(reports):
    """Works the jobs of a server with a function, one at a time."""

    async def work(server, function):
        reported = Worker(client=server, on_report=reports.append, max_jobs=len(server.jobs), concurrency=1)
        reported.job("t", backoff_s=0)(function)
        await reported.serve()

    return work


async def complete():
    return {}


async def throw():
    raise JobError("refused", "no card")


@pytest.mark.parametrize("status", [400, 413])
@pytest.mark.parametrize(
    ("function", "report", "more"),
    [(complete, "completion", ""), (throw, "error", "; the function raised JobError: no card")],
    ids=["completion", "error"],
)
async def test_a_job_whose_report_the_server_refuses_fails_with_its_reason(
    autojump_clock, work, reports, status, function, report, more
):
    server = StubServer(job(1))
    server.trouble_of[report] = refused(status, "it does not fit")
    await work(server, function)
    assert server.told == [("failure", "1", f"it does not fit ({status} X){more}", 2, 0)]
    assert [each.outcome for each in reports] == [JobOutcome.FAILED]


@pytest.mark.parametrize(
    "error",
    [JobFailed("no", retries="3"), JobFailed("no", backoff_s="soon"), JobError("code", 5), JobError("\ud800")],
    ids=["retries", "backoff", "message", "code"],
)
async def test_an_exception_that_cannot_be_sent_fails_its_job_alone(autojump_clock, work, reports, error):
    async def fail(context: Job):
        if context.job_key == "1":
            raise error

    server = StubServer(job(1), job(2))
    await work(server, fail)
    failed, completed = server.told
    assert (failed[0], *failed[3:], completed[0]) == ("failure", 2, 0, "completion")
    assert f"; the function raised {type(error).__name__}" in failed[2]
    assert [each.outcome for each in reports] == [JobOutcome.FAILED, JobOutcome.COMPLETED]
