"""Jobs of two programs that are killed: each writes down what it does."""

import os
import time

from vivero.jobs import RetrySettings, job

SOON = RetrySettings(max_attempts=0, initial_interval_s=0)
LEDGER = os.environ.get("VIVERO_TEST_LEDGER", os.devnull)


@job("exact", retry=SOON)
async def exact(execution):
    """In the transaction of the run."""
    await execution.execute("INSERT INTO exact_ledger VALUES ($1, $2)", (execution.payload, execution.attempt))


@job("plain", retry=SOON)
def plain(execution):
    """In a file, as something outside of the database."""
    time.sleep(0.005)
    with open(LEDGER, "a") as file:
        file.write(f"{execution.payload}\n")
