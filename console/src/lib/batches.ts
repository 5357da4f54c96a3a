// Batch operations: what a filter selects, as one request.
import { argument, type Command } from './commands.ts';
import { type Key, t } from './i18n.ts';
import type { Need } from './session.ts';
import type { Batch } from './shapes.ts';

export const CREATE_BATCH: Need = ['BATCH', 'CREATE'];
export const UPDATE_BATCH: Need = ['BATCH', 'UPDATE'];
export type Filter = Record<string, unknown>;
export type What = 'cancel' | 'delete' | 'retry' | 'retryIncidents';

/** The words for all that match: of a single one, without its number. */
export function allOf(what: What, total: string): string {
  const [one, many]: [Key, Key] =
    what === 'cancel'
      ? ['instance.cancel', 'batch.cancelAll']
      : what === 'delete'
        ? ['instance.delete', 'batch.deleteAll']
        : ['incident.retry', 'incident.retryAll'];
  return total === '1' ? t(one) : t(many, { n: total });
}

export const cancelAll = (filter: Filter): Command => ({
  method: 'POST',
  path: '/v2/process-instances/cancellation',
  body: { filter },
  cli: `cancel --all --filter ${argument(JSON.stringify(filter))}`,
});

/** Delete the ended instances that match. */
export const deleteAll = (filter: Filter): Command => ({
  method: 'POST',
  path: '/v2/process-instances/deletion',
  body: { filter },
  cli: `delete --all --filter ${argument(JSON.stringify(filter))}`,
});

/** Retry the incidents of the instances that match. */
export const retryOfInstances = (filter: Filter): Command => ({
  method: 'POST',
  path: '/v2/process-instances/incident-resolution',
  body: { filter },
});

/** Retry the incidents that match. */
export const retryIncidents = (filter: Filter): Command => ({
  method: 'POST',
  path: '/v2/incidents/resolution',
  body: { filter },
  cli: `resolve --all --filter ${argument(JSON.stringify(filter))}`,
});

/** The items that have ended. */
export const ended = (batch: Batch): number =>
  batch.operationsCompletedCount +
  batch.operationsFailedCount +
  batch.operationsSkippedCount +
  batch.operationsCanceledCount;

export const isOpen = (batch: Batch): boolean => ['CREATED', 'ACTIVE', 'SUSPENDED'].includes(batch.state);
