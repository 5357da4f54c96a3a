"""The metrics of whole programs, as Prometheus reads them."""

from tests.process.http_client import Caller, Unanswered
from tests.vivero.metrics.nodes import Samples


async def metrics(program, within_s=10):
    """The samples of a program; None without an answer."""
    async with Caller(program.port) as caller:
        try:
            answer = await caller.call("GET", "/metrics", within_s=within_s)
        except Unanswered:
            return None
    assert answer.status == 200, answer
    return Samples(answer.body.decode())
