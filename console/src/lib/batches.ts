// Batch operations: what a filter selects, as one request.
import { argument, type Command } from './commands.ts';
import { fingerprint, MOST } from './groups.ts';
import type { Need } from './session.ts';
import type { Batch, Incident } from './shapes.ts';

export const CREATE_BATCH: Need = ['BATCH', 'CREATE'];
export const UPDATE_BATCH: Need = ['BATCH', 'UPDATE'];
export type Filter = Record<string, unknown>;

export const cancelAll = (filter: Filter): Command => ({ method: 'POST', path: '/v2/process-instances/cancellation', body: { filter }, cli: `cancel --all --filter ${argument(JSON.stringify(filter))}` });

/** Retry the incidents of the instances that match. */
export const retryOfInstances = (filter: Filter): Command => ({ method: 'POST', path: '/v2/process-instances/incident-resolution', body: { filter } });

/** Retry the incidents that match. */
export const retryIncidents = (filter: Filter): Command => ({ method: 'POST', path: '/v2/incidents/resolution', body: { filter }, cli: `resolve --all --filter ${argument(JSON.stringify(filter))}` });

/** The filter of all incidents of one cause: those whose messages differ in their data only. */
export function causeFilter({ processDefinitionId, elementId, errorType, errorMessage }: Incident): Filter {
  const literal = errorMessage.replace(/[\\*?]/g, (each) => `\\${each}`);
  const found = fingerprint(literal), pattern = found.length < MOST ? found : `${found.replace(/\\+$/, '')}…`;
  return { state: 'ACTIVE', processDefinitionId, elementId, errorType, errorMessage: { $like: pattern.replaceAll('…', '*') } };
}

/** The items that have ended. */
export const ended = (batch: Batch): number => batch.operationsCompletedCount + batch.operationsFailedCount + batch.operationsSkippedCount + batch.operationsCanceledCount;

export const isOpen = (batch: Batch): boolean => ['CREATED', 'ACTIVE', 'SUSPENDED'].includes(batch.state);
