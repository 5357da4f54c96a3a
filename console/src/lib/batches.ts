// Batch operations: what a filter selects, as one request.
import { argument, type Command } from './commands.ts';
import { type Key, t } from './i18n.ts';
import { go, href } from './router.ts';
import type { Need } from './session.ts';
import type { Batch } from './shapes.ts';

export const UPDATE_BATCH: Need = ['BATCH', 'UPDATE'];
export type Filter = Record<string, unknown>;
export type What = 'cancel' | 'delete' | 'retry' | 'retryIncidents' | 'suspend' | 'resume' | 'deleteEvaluations';

const WORDS: Record<What, readonly [one: Key, many: Key]> = {
  cancel: ['instance.cancel', 'batch.cancelAll'],
  delete: ['instance.delete', 'batch.deleteAll'],
  retry: ['incident.retry', 'incident.retryAll'],
  retryIncidents: ['incident.retry', 'incident.retryAll'],
  suspend: ['instance.suspend', 'batch.suspendAll'],
  resume: ['instance.resume', 'batch.resumeAll'],
  deleteEvaluations: ['evaluation.delete', 'batch.deleteAll'],
};

const TYPES: Record<What, string> = {
  cancel: 'CANCEL_PROCESS_INSTANCE',
  delete: 'DELETE_PROCESS_INSTANCE',
  retry: 'RESOLVE_INCIDENT',
  retryIncidents: 'RESOLVE_INCIDENT',
  suspend: 'SUSPEND_PROCESS_INSTANCE',
  resume: 'SUSPEND_PROCESS_INSTANCE',
  deleteEvaluations: 'DELETE_DECISION_INSTANCE',
};
export const BATCH_OF = (type: string): Need => ['BATCH', `CREATE_BATCH_OPERATION_${type}`];
export const needOf = (what: What): Need => BATCH_OF(TYPES[what]);

/** The words for all that match: of a single one, without its number. */
export function allOf(what: What, total: string): string {
  const [one, many] = WORDS[what];
  return total === '1' ? t(one) : t(many, { n: total });
}

/** The command of the program for all that match, and its path. */
const toAll =
  (name: string, path: string, of = 'process-instances') =>
  (filter: Filter): Command => ({
    method: 'POST',
    path: `/v2/${of}/${path}`,
    body: { filter },
    cli: `${name} --all --filter ${argument(JSON.stringify(filter))}`,
  });

export const cancelAll = toAll('cancel', 'cancellation');
/** Delete the ended instances that match. */
export const deleteAll = toAll('delete', 'deletion');
export const suspendAll = toAll('suspend', 'suspension');
export const resumeAll = toAll('resume', 'resumption');
/** Retry the incidents that match. */
export const retryIncidents = toAll('resolve', 'resolution', 'incidents');
/** Delete the evaluations with a decision instance that matches. */
export const deleteEvaluations = toAll('delete-evaluations', 'deletion', 'decision-instances');

/** Retry the incidents of the instances that match. */
export const retryOfInstances = (filter: Filter): Command => ({
  method: 'POST',
  path: '/v2/process-instances/incident-resolution',
  body: { filter },
});

/** Go to the page of the batch operation that an answer names. */
export const openBatch = (answer: unknown): void =>
  go(href(`/batches/${(answer as { batchOperationKey: string }).batchOperationKey}`));

/** The items that have ended. */
export const ended = (batch: Batch): number =>
  batch.operationsCompletedCount +
  batch.operationsFailedCount +
  batch.operationsSkippedCount +
  batch.operationsCanceledCount;

export const isOpen = (batch: Batch): boolean => ['CREATED', 'ACTIVE', 'SUSPENDED'].includes(batch.state);
