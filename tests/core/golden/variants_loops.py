"""Every activity as a multi-instance one, for golden traces: two turns of `x`.

A variant takes what makes each turn an incident until `ok` is true.
"""

from tests.core.compensation_models import transaction
from tests.core.decision_models import rule
from tests.core.event_models import ad_hoc, call, loop, script
from tests.core.golden.variants import activity
from tests.core.golden.variants_waits import MAIL, PUBLISH, SEND_TASK, TASK_LISTENERS, person, receive, thrower
from tests.core.models import end, start, sub, task


def job(tag):
    return lambda inputs: activity(tag, '<zeebe:taskDefinition type="job"/>', inputs)


ACTIVITIES = {
    "task": lambda inputs: activity("task", "", inputs),
    "manual_task": lambda inputs: activity("manualTask", "", inputs),
    "service_task": job("serviceTask"),
    "send_task": thrower(SEND_TASK, MAIL),
    "send_task_publish": thrower(SEND_TASK, PUBLISH),
    "receive_task": receive,
    "script_task": lambda inputs: script("x", "=i + 1", "r", inputs=inputs),
    "script_task_job": job("scriptTask"),
    "business_rule_task": job("businessRuleTask"),
    "business_rule_task_decision": lambda inputs: rule("x", inputs=inputs),
    "user_task": person,
    "user_task_listened": lambda inputs: person(inputs, TASK_LISTENERS),
    "user_task_job": lambda inputs: activity("userTask", '<zeebe:assignmentDefinition assignee="jo"/>', inputs),
    "call_activity": lambda inputs: call("x", "called", inputs=inputs),
    "ad_hoc": lambda inputs: ad_hoc("x", task("n"), active='=["n"]', inputs=inputs),
    "ad_hoc_job": lambda inputs: ad_hoc("x", task("t"), job="decide", inputs=inputs),
    "transaction": lambda inputs: transaction("x", start("xb"), end("xe"), "xb > xe", inputs=inputs),
    "sub_process": lambda inputs: sub("x", start("xb"), end("xe"), "xb > xe", inputs=inputs),
}
"""Name → the activity, with what makes it an incident until `ok` is true."""


def looped(part, sequential):
    def content(inputs):
        repeated = loop(part(inputs), "=[1, 2]", "i", output="=i", into="all", sequential=sequential)
        return [start("b"), repeated, end("e"), "b > x > e"]

    return content


PARALLEL = {name: looped(part, False) for name, part in ACTIVITIES.items()}
SEQUENTIAL = {name: looped(part, True) for name, part in ACTIVITIES.items()}
