// Instances with the rare elements of BPMN, read by the official JavaScript client, which checks each answer.
// Arguments: the folder with the client's module, the BPMN files `adhoc`, `alone` and `others`.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { strict as assert } from 'node:assert';

const [modules, ...files] = process.argv.slice(2);
const { createCamundaClient } = createRequire(`${resolve(modules)}/`)('@camunda8/orchestration-cluster-api');
const client = createCamundaClient();
const now = { consistency: { waitUpToMs: 0 } };

async function begun(processDefinitionId, more = {}) {
  return (await client.createProcessInstance({ processDefinitionId, ...more })).processInstanceKey;
}

/** `id TYPE STATE` of each element instance. */
async function elements(processInstanceKey) {
  const found = await client.searchElementInstances({ filter: { processInstanceKey }, page: { limit: 100 } }, now);
  for (const { elementInstanceKey, type } of found.items) {
    assert.equal((await client.getElementInstance({ elementInstanceKey }, now)).type, type);
  }
  return new Set(found.items.map((one) => `${one.elementId} ${one.type} ${one.state}`));
}

async function job(type) {
  const ask = { type, worker: 'w', timeout: 60000, maxJobsToActivate: 1, requestTimeout: 20000 };
  return (await client.activateJobs(ask)).jobs[0];
}

async function done(type, result) {
  const { jobKey } = await job(type);
  await client.completeJob({ jobKey, variables: {}, ...(result && { result: { type: 'adHocSubProcess', ...result } }) });
}

function contains(found, expected) {
  for (const each of expected) assert.ok(found.has(each), `${each} is not in ${[...found].join(', ')}`);
}

await client.deployResourcesFromFiles(files);

const alone = await begun('alone', { awaitCompletion: true, requestTimeout: 60000 });
contains(await elements(alone), [
  'both INTERMEDIATE_CATCH_EVENT COMPLETED',
  'each MULTI_INSTANCE_BODY COMPLETED',
  'undo EVENT_SUB_PROCESS COMPLETED',
  'global CALL_ACTIVITY COMPLETED',
  'over END_EVENT COMPLETED',
]);

const others = await begun('others');
for (const type of ['book', 'pay', 'ubook', 'left', 'right', 'again', 'again']) await done(type);
contains(await elements(others), [
  'tx SUB_PROCESS TERMINATED',
  'cancelled BOUNDARY_EVENT COMPLETED',
  'join UNKNOWN COMPLETED',
  'again MULTI_INSTANCE_BODY COMPLETED',
]);

const adHoc = await begun('adhoc');
const open = { filter: { processInstanceKey: adHoc, elementId: 'open' } };
const [{ elementInstanceKey }] = (await client.searchElementInstances(open, now)).items;
await client.activateAdHocSubProcessActivities({
  adHocSubProcessInstanceKey: elementInstanceKey,
  elements: [{ elementId: 'B', variables: {} }],
});
await done('A');
await done('B');
const agent = await job('agent');
assert.equal(agent.kind, 'AD_HOC_SUB_PROCESS');
await client.completeJob({
  jobKey: agent.jobKey,
  variables: {},
  result: {
    type: 'adHocSubProcess',
    activateElements: [{ elementId: 'C', variables: { x: 'c' } }],
    isCompletionConditionFulfilled: false,
    isCancelRemainingInstances: false,
  },
});
await done('C');
await done('agent', { activateElements: [], isCompletionConditionFulfilled: true, isCancelRemainingInstances: false });
contains(await elements(adHoc), [
  'open AD_HOC_SUB_PROCESS COMPLETED',
  'open#innerInstance AD_HOC_SUB_PROCESS_INNER_INSTANCE COMPLETED',
  'decided AD_HOC_SUB_PROCESS COMPLETED',
]);
console.log('done');
