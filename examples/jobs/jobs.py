"""Background jobs beside the process engine. Start them with `vivero up --jobs examples/jobs/jobs.py`.

docs/background-jobs.md explains every part.
"""

import asyncio

from vivero.jobs import (
    Execution,
    RescheduleIn,
    RetrySettings,
    TransactionalEvents,
    TransactionalExecution,
    consumer,
    job,
    scheduled,
)


@job("send-invoice", retry=RetrySettings(max_attempts=3, initial_interval_s=1))
async def send_invoice(execution: TransactionalExecution) -> None:
    """A Trio function. What it writes commits with the end of the run, exactly once."""
    await execution.execute("CREATE TABLE IF NOT EXISTS sent_invoices (invoice text PRIMARY KEY, amount numeric)")
    invoice, amount = execution.payload["invoice"], str(execution.payload["amount"])
    await execution.execute("INSERT INTO sent_invoices VALUES ($1, $2::numeric)", (invoice, amount))


@job("fetch-rates", runs="asyncio")
async def fetch_rates(execution: Execution) -> RescheduleIn | None:
    """An asyncio function, for asyncio libraries. It polls: it asks for another run, three times in all."""
    await asyncio.sleep(0.01)
    return RescheduleIn("PT1S") if execution.occurrence < 2 else None


@scheduled("nightly-report", cron="0 3 * * *", timezone="Europe/Madrid")
def nightly_report(execution: Execution) -> None:
    """A plain function, which runs in a thread, every night at three."""
    print(f"report {execution.idempotency_key}, attempt {execution.attempt + 1}", flush=True)


@consumer("completed-elements", events=["ElementCompleted"])
async def count_completed(execution: TransactionalEvents) -> None:
    """A consumer of events. What it writes commits with its acknowledgements, so each event counts exactly once."""
    await execution.execute("SELECT pg_advisory_xact_lock(4242)")  # partitions run at once, and one makes the table
    await execution.execute("CREATE TABLE IF NOT EXISTS completed_elements (event text PRIMARY KEY)")
    for event in await execution.poll():
        name = f"{event.position}/{event.seq}/{event.ordinal}"
        await execution.execute("INSERT INTO completed_elements VALUES ($1)", (name,))
        await execution.acknowledge(event)
