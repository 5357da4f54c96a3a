// Operations on running instances with the official JavaScript client, which checks each request and each answer.
// Arguments: the folder with the client's module, two BPMN files with versions of the process `p`.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { strict as assert } from 'node:assert';

const [modules, first, second] = process.argv.slice(2);
const { createCamundaClient } = createRequire(`${resolve(modules)}/`)('@camunda8/orchestration-cluster-api');
const client = createCamundaClient();
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
console.log('done');
