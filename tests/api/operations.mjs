// Operations on running instances with the official JavaScript client, which checks each request and each answer.
// Arguments: the folder with the client's module, two BPMN files with versions of the process `p`.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { strict as assert } from 'node:assert';

const [modules, first, second] = process.argv.slice(2);
const { createCamundaClient } = createRequire(`${resolve(modules)}/`)('@camunda8/orchestration-cluster-api');
const called = new Set();
const client = new Proxy(createCamundaClient(), {
  get(target, call) {
    called.add(call);
    return target[call].bind(target);
  },
});
const now = { consistency: { waitUpToMs: 0 } };

async function deployed(file) {
  const { processes } = await client.deployResourcesFromFiles([file]);
  return processes[0].processDefinitionKey;
}

async function begun(tags = []) {
  return (await client.createProcessInstance({ processDefinitionId: 'p', tags })).processInstanceKey;
}

async function elements(processInstanceKey) {
  const found = await client.searchElementInstances({ filter: { processInstanceKey, state: 'ACTIVE' } }, now);
  return found.items.map((one) => one.elementId).filter((id) => id !== 'p').sort();
}

async function finished({ batchOperationKey }) {
  for (;;) {
    const found = await client.getBatchOperation({ batchOperationKey }, now);
    if (!['CREATED', 'ACTIVE'].includes(found.state)) {
      return [found.batchOperationType, found.state, found.operationsCompletedCount];
    }
  }
}

const mapping = (sourceElementId, targetElementId) => [{ sourceElementId, targetElementId }];

await deployed(first);
const key = await begun();
await client.modifyProcessInstance({
  processInstanceKey: key,
  activateInstructions: [{ elementId: 'check', variableInstructions: [{ variables: { a: 1 }, scopeId: '' }] }],
  terminateInstructions: [{ elementId: 'work' }],
});
assert.deepEqual(await elements(key), ['check']);
await client.modifyProcessInstance({
  processInstanceKey: key,
  moveInstructions: [{ sourceElementInstruction: { sourceType: 'byId', sourceElementId: 'check' }, targetElementId: 'work' }],
});
assert.deepEqual(await elements(key), ['work']);

const [{ elementInstanceKey }] = (
  await client.searchElementInstances({ filter: { processInstanceKey: key, elementId: 'work', state: 'ACTIVE' } }, now)
).items;
await client.modifyProcessInstance({
  processInstanceKey: key,
  moveInstructions: [
    {
      sourceElementInstruction: { sourceType: 'byKey', sourceElementInstanceKey: elementInstanceKey },
      targetElementId: 'check',
      ancestorScopeInstruction: { ancestorScopeType: 'sourceParent' },
    },
  ],
});
await client.modifyProcessInstance({
  processInstanceKey: key,
  activateInstructions: [{ elementId: 'work' }],
  terminateInstructions: [{ elementId: 'check' }],
});
assert.deepEqual(await elements(key), ['work']);

const many = [await begun(['many']), await begun(['many'])];
const filter = { tags: ['many'] };
const modified = await client.modifyProcessInstancesBatchOperation({ filter, moveInstructions: mapping('work', 'check') });
assert.deepEqual(await finished(modified), ['MODIFY_PROCESS_INSTANCE', 'COMPLETED', 2]);
for (const one of many) assert.deepEqual(await elements(one), ['check']);

const targetProcessDefinitionKey = await deployed(second);
await client.migrateProcessInstance({
  processInstanceKey: key,
  targetProcessDefinitionKey,
  mappingInstructions: mapping('work', 'labour'),
});
assert.deepEqual(await elements(key), ['labour']);
const migrationPlan = { targetProcessDefinitionKey, mappingInstructions: mapping('check', 'review') };
const migrated = await client.migrateProcessInstancesBatchOperation({ filter, migrationPlan });
assert.deepEqual(await finished(migrated), ['MIGRATE_PROCESS_INSTANCE', 'COMPLETED', 2]);

await assert.rejects(
  client.migrateProcessInstance({ processInstanceKey: key, targetProcessDefinitionKey, mappingInstructions: mapping('nothing', 'labour') }),
  (error) => error.status === 400,
);
const instance = await client.getProcessInstance({ processInstanceKey: key }, now);
assert.equal(instance.processDefinitionKey, targetProcessDefinitionKey);
const created = await client.createProcessInstance({ processDefinitionId: 'p', businessId: 'order-7' });
const found = await client.searchProcessInstances({ filter: { businessId: 'order-7' } }, now);
assert.deepEqual(found.items.map((one) => one.processInstanceKey), [created.processInstanceKey]);

// ---- refusals: the client's errors have the status. Release 9.1.5 has no call that suspends an instance.

const missing = '2251799813685999';
for (const [call, given, status] of [
  ['modifyProcessInstance', { processInstanceKey: missing, activateInstructions: [{ elementId: 'labour' }] }, 404],
  ['modifyProcessInstance', { processInstanceKey: key, activateInstructions: [{ elementId: 'nothing' }] }, 400],
  ['migrateProcessInstance', { processInstanceKey: missing, ...migrationPlan }, 404],
  ['migrateProcessInstance', { processInstanceKey: key, targetProcessDefinitionKey: missing, mappingInstructions: mapping('labour', 'labour') }, 404],
  ['migrateProcessInstance', { processInstanceKey: key, targetProcessDefinitionKey, mappingInstructions: mapping('review', 'review') }, 409],
  ['getBatchOperation', { batchOperationKey: missing }, 404],
  ['suspendBatchOperation', { batchOperationKey: missing }, 404],
  ['resumeBatchOperation', { batchOperationKey: missing }, 404],
  ['cancelBatchOperation', { batchOperationKey: missing }, 404],
  ['suspendBatchOperation', { batchOperationKey: modified.batchOperationKey }, 409],
  ['cancelProcessInstance', { processInstanceKey: missing }, 404],
  ['deleteProcessInstance', { processInstanceKey: missing }, 404],
  ['deleteProcessInstance', { processInstanceKey: key }, 409],
  ['resolveProcessInstanceIncidents', { processInstanceKey: missing }, 404],
]) {
  const asked = call === 'getBatchOperation' ? client[call](given, now) : client[call](given);
  await assert.rejects(asked, (error) => error.status === status || assert.fail(`${call} gives ${error.status}: ${error}`));
}

// ---- batch operations: their states, their items, and each kind

const items = await client.searchBatchOperationItems({ filter: { batchOperationKey: migrated.batchOperationKey } }, now);
assert.deepEqual(items.items.map((one) => [one.state, one.operationType, many.includes(one.processInstanceKey)]), [
  ['COMPLETED', 'MIGRATE_PROCESS_INSTANCE', true],
  ['COMPLETED', 'MIGRATE_PROCESS_INSTANCE', true],
]);
const kinds = await client.searchBatchOperations({ filter: { operationType: 'MODIFY_PROCESS_INSTANCE' } }, now);
assert.deepEqual(kinds.items.map((one) => one.batchOperationKey), [modified.batchOperationKey]);
const refused = await client.migrateProcessInstancesBatchOperation({
  filter,
  migrationPlan: { targetProcessDefinitionKey, mappingInstructions: mapping('labour', 'labour') },
});
assert.deepEqual(await finished(refused), ['MIGRATE_PROCESS_INSTANCE', 'COMPLETED', 2]); // they are there already

for (let number = 0; number < 200; number += 1) await begun(['held']);
const only = ({ batchOperationKey }) => ({ batchOperationKey });
const held = only(await client.cancelProcessInstancesBatchOperation({ filter: { tags: ['held'] } }));
await client.suspendBatchOperation(held);
const state = async () => (await client.getBatchOperation(held, now)).state;
assert.equal(await state(), 'SUSPENDED');
await client.resumeBatchOperation(held);
assert.deepEqual(await finished(held), ['CANCEL_PROCESS_INSTANCE', 'COMPLETED', 200]);
const gone = only(await client.deleteProcessInstancesBatchOperation({ filter: { tags: ['held'] } }));
await client.cancelBatchOperation(gone);
assert.equal((await finished(gone))[1], 'CANCELED');

const [job] = (await client.activateJobs({ type: 'work', maxJobsToActivate: 1, timeout: 60000, worker: 'js' })).jobs
  ?? (await client.activateJobs({ type: 'work', maxJobsToActivate: 1, timeout: 60000, worker: 'js' }));
await client.failJob({ jobKey: job.jobKey, retries: 0, errorMessage: 'no money' });
await client.updateJob({ jobKey: job.jobKey, changeset: { retries: 1 } });
const resolved = await client.resolveIncidentsBatchOperation({ filter: { processInstanceKey: job.processInstanceKey } });
assert.deepEqual(await finished(resolved), ['RESOLVE_INCIDENT', 'COMPLETED', 1]);
const one = await client.resolveProcessInstanceIncidents({ processInstanceKey: job.processInstanceKey });
assert.equal((await finished(one))[0], 'RESOLVE_INCIDENT');
const statistics = await client.getProcessInstanceStatistics({ processInstanceKey: key }, now);
const active = statistics.items.filter((each) => each.active > 0);
assert.deepEqual(active.map((each) => [each.elementId, each.active]), [['labour', 1]]);
await client.cancelProcessInstance({ processInstanceKey: key });
await client.deleteProcessInstance({ processInstanceKey: key });
const decisions = await client.deleteDecisionInstancesBatchOperation({ filter: { decisionDefinitionId: 'none' } });
assert.deepEqual(await finished(decisions), ['DELETE_DECISION_INSTANCE', 'COMPLETED', 0]);
console.log([...called].sort().join(' '));
console.log('done');
