// The filters of a list of instances: from the query of the URL to the filter of a search.
import { exact } from './json.ts';

export type Values = Record<string, string>;

export const STATES = ['active', 'incidents', 'late', 'suspended', 'completed', 'terminated', 'all'] as const;

const STATE_FILTERS: Record<string, Record<string, unknown>> = {
  active: { state: 'ACTIVE' },
  incidents: { state: 'ACTIVE', hasIncident: true },
  late: { state: 'ACTIVE', isLate: true },
  suspended: { state: 'SUSPENDED' },
  completed: { state: 'COMPLETED' },
  terminated: { state: 'TERMINATED' },
  all: {},
};

/** The condition on a text of which people type a part, or a pattern, in which `*` stands for any characters. */
export const part = (text: string): Record<string, unknown> => ({
  $like: text.includes('*') ? text : `*${text.replace(/[?\\]/g, '\\$&')}*`,
});

/** A text that people type: a key, a business id in quotation marks, a part of one, or a pattern, in which `*` stands for any characters. */
export function identity(text: string): Record<string, unknown> {
  if (/^\d{10,}$/.test(text)) return { processInstanceKey: text };
  const whole = /^"(.+)"$/.exec(text)?.[1];
  if (whole) return { businessId: whole };
  return { businessId: part(text) };
}

/** The value of a variable as JSON text. What is not JSON is a text. */
export function jsonText(text: string): string {
  try {
    return JSON.stringify(exact(text));
  } catch {
    return JSON.stringify(text);
  }
}

const instant = (local: string): string => new Date(local).toISOString();

/** The condition on a time between two local times; undefined without any. */
export function range(from: string | undefined, to: string | undefined): Record<string, unknown> | undefined {
  if (!from && !to) return undefined;
  return { ...(from && { $gte: instant(from) }), ...(to && { $lt: instant(to) }) };
}

/** The filter of a search for process instances. */
export function instanceFilter(values: Values): Record<string, unknown> {
  const { q, process, version, tenant, variable, value, element, tag, error, cause } = values;
  const started = range(values.from, values.to);
  return {
    ...STATE_FILTERS[values.state ?? 'active'],
    ...(q && identity(q.trim())),
    ...(process && { processDefinitionId: process }),
    ...(process && version && { processDefinitionVersion: Number(version) }),
    ...(tenant && { tenantId: tenant }),
    ...(variable && { variables: [{ name: variable, value: value ? jsonText(value) : { $exists: true } }] }),
    ...(element && { elementId: element, elementInstanceState: 'ACTIVE' }),
    ...(tag && { tags: [tag] }),
    ...(error && { errorMessage: { $like: `*${error}*` } }),
    ...(cause && { incidentCauseHashCode: Number(cause) }),
    ...(started && { startDate: started }),
  };
}
