"""Very many elements that begin, are undone or end at once: ad-hoc elements, and a transaction that is cancelled.

`VIVERO_FAN_OUT` says how many.
"""

import os

from tests.hostile.test_instance_trees import has_nothing_left, jobs_of, loop, process, scope, sub, task, until

COUNT = int(os.environ.get("VIVERO_FAN_OUT", "400"))
PATIENCE_S = 1200.0
SCRIPT = (
    '<bpmn:scriptTask id="{id}" {more}><bpmn:extensionElements><zeebe:script expression="=1" resultVariable="r"/>'
    "</bpmn:extensionElements></bpmn:scriptTask>"
)


def flow(source, target):
    return f'<bpmn:sequenceFlow id="{source}-{target}" sourceRef="{source}" targetRef="{target}"/>'


def ad_hoc(collection):
    """An ad-hoc sub-process whose only tool begins as often as the collection says."""
    extension = f'<zeebe:adHoc activeElementsCollection="{collection}"/>'
    inside = f"<bpmn:extensionElements>{extension}</bpmn:extensionElements>{task('tool')}"
    return f'<bpmn:adHocSubProcess id="tools">{inside}</bpmn:adHocSubProcess>'


def transaction():
    """Many trips complete, and many jobs wait, when a worker's decision leads to the cancel end event."""
    undo = '<bpmn:boundaryEvent id="undo" attachedToRef="book"><bpmn:compensateEventDefinition/></bpmn:boundaryEvent>'
    association = '<bpmn:association id="undone" sourceRef="undo" targetRef="unbook"/>'
    book = SCRIPT.format(id="book", more="") + flow("i", "book") + undo
    unbook = SCRIPT.format(id="unbook", more='isForCompensation="true"') + association
    trips = sub("trips", f'<bpmn:startEvent id="i"/>{book}{unbook}', loop())
    cancel = '<bpmn:endEvent id="no"><bpmn:cancelEventDefinition/></bpmn:endEvent>'
    fork = '<bpmn:parallelGateway id="fork"/>' + task("waits", loop()) + task("decide") + cancel
    flows = [("trips", "fork"), ("fork", "waits"), ("fork", "decide"), ("decide", "no")]
    inside = scope("t", trips) + fork + "".join(flow(*ends) for ends in flows)
    boundary = (
        '<bpmn:boundaryEvent id="cancelled" attachedToRef="booking"><bpmn:cancelEventDefinition/></bpmn:boundaryEvent>'
    )
    end = '<bpmn:endEvent id="nothing-booked"/>' + flow("cancelled", "nothing-booked")
    return scope("s", f'<bpmn:transaction id="booking">{inside}</bpmn:transaction>') + boundary + end


async def test_elements_of_an_ad_hoc_sub_process_are_cancelled(target):
    await target.deployed(process("ad-hoc", scope("s", ad_hoc("=elements"))))
    async with target.attacked(within_s=PATIENCE_S):
        key = await target.created("ad-hoc", {"elements": ["tool"] * COUNT})
        await until(lambda: jobs_of(target, "tool"), COUNT, "all jobs are there", PATIENCE_S)
        await has_nothing_left(target, key, PATIENCE_S)


async def test_a_transaction_is_cancelled(target):
    """Its jobs end before the first handler begins, and each handler runs once."""
    await target.deployed(process("transaction", transaction()))
    ask = {"type": "decide", "worker": "w", "timeout": 600_000, "maxJobsToActivate": 1, "requestTimeout": 60_000}
    async with target.attacked(within_s=PATIENCE_S):
        key = await target.created("transaction", {"items": list(range(COUNT))})
        await until(lambda: jobs_of(target, "waits"), COUNT, "all jobs are there", PATIENCE_S)
        (job,) = (await target.call("POST", "/v2/jobs/activation", ask, within_s=120)).json["jobs"]
        answer = await target.call("POST", f"/v2/jobs/{job['jobKey']}/completion", {}, within_s=PATIENCE_S)
        assert answer.status == 204, answer
        assert await target.ended(key, PATIENCE_S) == "COMPLETED"
    states = await target.query(
        "SELECT element_id, state, count(*) FROM element_instances WHERE root_key = %s"
        " AND element_id IN ('unbook', 'nothing-booked', 'booking') GROUP BY 1, 2 ORDER BY 1",
        (int(key),),
    )
    assert states == [("booking", "TERMINATED", 1), ("nothing-booked", "COMPLETED", 1), ("unbook", "COMPLETED", COUNT)]
    assert await jobs_of(target, "waits") == 0
