"""A dry run names what is there as the trace of the instance does."""

from tests.core.dry_runs.trials import tried
from tests.core.engine import Engine
from tests.core.listener_models import listening
from tests.core.message_models import boundary, model
from tests.core.models import end, start, task
from vivero.core.dry_runs.live_rows import live_rows_in
from vivero.core.dry_runs.report import report_of
from vivero.core.records.instances import CancelInstance

PARTS = (start(), task("work"), task("check"), boundary("check", on="signal"), end())


def test_listeners_and_waits_have_their_names():
    engine = Engine()
    engine.deploy(listening(model(*PARTS, "start > work > end", "start > check"), work=["start prepare"]))
    key = engine.start()
    cancel = CancelInstance(key)
    before = live_rows_in(engine.state.elements[key])
    report = report_of(1, "TERMINATED", tried(engine, cancel).events, before, {}, ())
    engine.accepted(cancel)
    trace = [line.strip() for line in engine.trace]
    assert [line.strip() for line in report.lines[1:]] == trace[1 - len(report.lines) :], "but for the request's number"
    assert {line for line in trace if line.startswith(("JobCanceled", "SubscriptionClosed"))} == {
        "JobCanceled        listener(work)",
        "JobCanceled        job(check)",
        "SubscriptionClosed wait(boundary)",
    }
