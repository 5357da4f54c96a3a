// Deploys a process, starts it, completes its task, and waits for its result.
import createCamundaClient from '@camunda8/orchestration-cluster-api';

const client = createCamundaClient(); // CAMUNDA_REST_ADDRESS, http://localhost:8080 without it

await client.deployResourcesFromFiles([new URL('../greet.bpmn', import.meta.url).pathname]);

const worker = client.createJobWorker({
  jobType: 'greet',
  maxParallelJobs: 10,
  jobTimeoutMs: 30_000,
  jobHandler: (job) => job.complete({ greeting: `Hello, ${job.variables.name}!` }),
});

const result = await client.createProcessInstance({
  processDefinitionId: 'greet',
  variables: { name: 'Ada' },
  awaitCompletion: true,
});
console.log(result.variables.greeting);
worker.stop();
