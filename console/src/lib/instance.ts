// The present of an instance, for its page. It is asked for while the chunk of the page is on its way.
import { get, ifAllowed, search, send } from './api.ts';
import { modelOf } from './models.ts';
import { ask } from './resource.ts';
import type { CallHierarchy, Flow, Incident, Instance, Page, PageInfo, Statistics, Variable } from './shapes.ts';

/** A few reads by index. */
export type Now = {
  instance: Instance;
  statistics: Statistics[];
  flows: string[];
  /** The first of them, also those of called instances; `incidentPage` says how many there are. */
  incidents: Incident[];
  incidentPage: PageInfo;
  /** The first of its own: elements have theirs. */
  variables: Variable[];
  variablePage: PageInfo;
  callers: CallHierarchy[];
};

const pathOf = (key: string): string => `/v2/process-instances/${key}`;

/** The version of the tree that an instance belongs to; null if the user may not read it, or the tree is too large. */
export async function versionOf(instance: Instance): Promise<string | null> {
  const abort = new AbortController();
  const answer = await fetch(
    `/v2/process-instances/${instance.rootProcessInstanceKey ?? instance.processInstanceKey}/snapshot`,
    { credentials: 'same-origin', signal: abort.signal },
  ).catch(() => null);
  const version = answer?.ok ? answer.headers.get('ETag') : null;
  abort.abort();
  return version;
}

/** The instance itself. Its model is asked for as soon as it is known. */
export function instanceOf(key: string, abort?: AbortSignal): Promise<Instance> {
  const asked = get<Instance>(pathOf(key), abort);
  asked.then((found) => modelOf(found.processDefinitionKey)).catch(() => {}); // the page asks for both, too, and tells what is wrong
  return asked;
}

export async function presentOf(
  key: string,
  abort?: AbortSignal,
  itself: Promise<Instance> = instanceOf(key, abort),
): Promise<Now> {
  const path = pathOf(key);
  const [instance, statistics, flows, incidents, variables, callers] = await Promise.all([
    itself,
    get<{ items: Statistics[] }>(`${path}/statistics/element-instances`, abort),
    get<{ items: Flow[] }>(`${path}/sequence-flows`, abort),
    send<Page<Incident>>(
      { method: 'POST', path: `${path}/incidents/search`, body: { filter: { state: 'ACTIVE' }, page: { limit: 100 } } },
      abort,
    ),
    search<Variable>(
      'variables',
      { filter: { scopeKey: key }, sort: [{ field: 'name', order: 'ASC' }], page: { limit: 500 } },
      abort,
    ),
    ifAllowed(get<CallHierarchy[]>(`${path}/call-hierarchy`, abort)), // it needs rights on all processes
  ]);
  return {
    instance,
    statistics: statistics.items,
    flows: flows.items.map((flow) => flow.elementId),
    incidents: incidents.body.items,
    incidentPage: incidents.body.page,
    variables: variables.items,
    variablePage: variables.page,
    callers: callers ?? [],
  };
}

/** Ask for the resources `itself …` and `instance …` of the page. */
export function askForInstance(key: string): void {
  const itself = instanceOf(key);
  ask(`itself ${key}`, itself);
  ask(`instance ${key}`, presentOf(key, undefined, itself));
}
