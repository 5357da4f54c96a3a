// Operations on running instances with the REST client of the older official package, `@camunda8/sdk`.
// Arguments: the folder with the package, two BPMN files with versions of the process `p`.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { strict as assert } from 'node:assert';

const [modules, first, second] = process.argv.slice(2);
const { Camunda8 } = createRequire(`${resolve(modules)}/`)('@camunda8/sdk');
const settings = { CAMUNDA_OAUTH_DISABLED: true, ZEEBE_REST_ADDRESS: process.env.CAMUNDA_REST_ADDRESS };
const called = new Set();
const client = new Proxy(new Camunda8(settings).getCamundaRestClient(), {
  get(target, call) {
    called.add(call);
    return target[call].bind(target);
  },
});

async function deployed(file) {
  const { processes } = await client.deployResourcesFromFiles([file]);
  return processes[0].processDefinitionKey;
}

async function elements(processInstanceKey) {
  const found = await client.searchElementInstances({ filter: { processInstanceKey, state: 'ACTIVE' } });
  return found.items.filter((one) => one.elementId !== 'p');
}

await deployed(first);
const { processInstanceKey } = await client.createProcessInstance({ processDefinitionId: 'p', variables: {} });
const [{ elementInstanceKey }] = await elements(processInstanceKey);
await client.modifyProcessInstance({
  processInstanceKey,
  activateInstructions: [{ elementId: 'check', variableInstructions: [{ variables: { a: 1 }, scopeId: 'check' }] }],
  terminateInstructions: [{ elementInstanceKey }],
});
assert.deepEqual((await elements(processInstanceKey)).map((one) => one.elementId), ['check']);
await client.migrateProcessInstance({
  processInstanceKey,
  targetProcessDefinitionKey: await deployed(second),
  mappingInstructions: [{ sourceElementId: 'check', targetElementId: 'review' }],
});
assert.deepEqual((await elements(processInstanceKey)).map((one) => one.elementId), ['review']);
await assert.rejects(client.modifyProcessInstance({ processInstanceKey, activateInstructions: [{ elementId: 'nothing' }] }));
const wrong = { jobKey: '2251799813685999', errorMessage: 'no money', retries: 0, retryBackOff: 0 };
await assert.rejects(client.failJob(wrong));
const jobs = await client.activateJobs({ type: 'check', maxJobsToActivate: 1, timeout: 60000, worker: 'js', requestTimeout: 0 });
await client.failJob({ ...wrong, jobKey: jobs[0].jobKey });
await client.updateJob({ jobKey: jobs[0].jobKey, retries: 1 });
const { items } = await client.searchIncidents({ filter: { processInstanceKey, state: 'ACTIVE' } });
assert.deepEqual(items.map((one) => [one.elementId, one.errorType]), [['review', 'JOB_NO_RETRIES']]);
await client.resolveIncident(items[0].incidentKey);
const found = await client.searchProcessInstances({ filter: { processInstanceKey } });
assert.deepEqual(found.items.map((one) => [one.state, one.hasIncident]), [['ACTIVE', false]]);
await assert.rejects(client.migrateProcessInstance({ processInstanceKey, targetProcessDefinitionKey: '1', mappingInstructions: [] }));
await client.cancelProcessInstance({ processInstanceKey });
assert.deepEqual(await elements(processInstanceKey), []);
console.log([...called].sort().join(' '));
console.log('done');
