"""Ad-hoc sub-processes on PostgreSQL: their progress is saved, and loaded with their instance."""

from tests.core.ad_hoc_models import wanted
from tests.core.engine import raw
from tests.core.event_models import ad_hoc, loop, model
from tests.core.models import end, par, start, task
from tests.engine.consumer.serial_runs import (
    Serial,
    dump,
    event_log,
    expected_event_log,
    save_serially,
    worked_off_one_by_one,
)
from vivero.core.records.ad_hoc import ActivateAdHocElements, AdHocResult
from vivero.core.records.jobs import CompleteJob

TOOLS = (task("A"), task("B"), task("C"), par("j"), "A > j", "B > j")
SEQUENTIAL = ad_hoc("h", *TOOLS, active='=["C","A","B","C"]', output="=x", into="xs", ordering="Sequential")
DECIDED = ad_hoc("w", task("D"), task("E"), job="agent", output="=x", into="ws")
LOOPED = loop(ad_hoc("k", task("K"), output="=x", into="ks"), "=[1, 2]", "i", output="=ks", into="all")
MODEL = model(start(), SEQUENTIAL, DECIDED, LOOPED, end(), "start > h > w > k > end")


async def test_their_progress_is_loaded_with_their_instance(migrated, connection, second):
    serial = Serial()
    serial.deploy(MODEL)
    key = serial.start()
    for number, id in enumerate(("C", "A", "B", "C")):
        serial.run(CompleteJob(serial.job(id).key, raw({"x": number})))
    serial.run(CompleteJob(serial.job("w").key, result=AdHocResult(wanted([("D", {"n": 1}), "E"]))))
    serial.run(CompleteJob(serial.job("D").key, raw({"x": "d"})))
    serial.run(CompleteJob(serial.job("w").key, result=AdHocResult(fulfilled=True)))
    serial.run(CompleteJob(serial.job("E").key, raw({"x": "e"})))
    items = [element.key for element in serial.state.elements.values() if element.element == "k"][1:]
    serial.run(ActivateAdHocElements(items[1], wanted([("K", {"n": 2})])))
    serial.run(ActivateAdHocElements(items[1], wanted([("K", {"n": 3})]), cancel_remaining=True))
    serial.run(ActivateAdHocElements(items[0], wanted(["K"])))
    for number in range(2):
        serial.run(CompleteJob(serial.job("K").key, raw({"x": number})))
    assert serial.variables_of(key) == {"xs": [0, 2, 3], "ws": ["d", "e"], "all": [[1], [0]]}
    await worked_off_one_by_one(migrated, connection, serial)
    await save_serially(second, serial)
    assert await event_log(connection) == expected_event_log(serial)
    assert await dump(connection) == await dump(second)
