// The extent of a compensation: its scopes in the model, and the completed activities in them. BPMN 2.0.2 §10.7.
import { get, search } from './api.ts';
import type { ElementInstance } from './shapes.ts';

const BPMN = 'http://www.omg.org/spec/BPMN/20100524/MODEL';
const SCOPES = /^(subProcess|transaction|adHocSubProcess)$/;
const PAGE = 50;
const MOST_SCOPES = 10;

/** A completed activity that can be compensated. `inside`: numbers of activities in it, by id. */
export type Registered = {
  compensationKey: string;
  elementInstanceKey: string;
  elementId: string;
  handlerId: string | null;
  inside: Record<string, number>;
  state: 'REGISTERED' | 'RUNNING';
};
export type Registrations = { items: Registered[]; next: string | null };

/** The place where a compensation acts: in sub-processes by their ids, or null for the process itself. `only`: one activity. */
export type Reach = { scopes: (string | null)[]; only: string | null; throws: boolean };
export type CompensationModel = { reachOf(id: string | null): Reach | null; handlerOf(event: string): string };

const scopeOf = (element: Element): string | null =>
  SCOPES.test(element.localName) ? element.getAttribute('id') : null;

function thrownBy(element: Element): Reach | null {
  const definition = [...element.children].find((child) => child.localName === 'compensateEventDefinition');
  const around = element.parentElement;
  if (!definition || !around || !/^(intermediateThrowEvent|endEvent)$/.test(element.localName)) return null;
  const scopes = [scopeOf(around)];
  if (around.getAttribute('triggeredByEvent') === 'true' && around.parentElement)
    scopes.push(scopeOf(around.parentElement));
  return { scopes, only: definition.getAttribute('activityRef'), throws: true };
}

/** The compensation of a model; null if it has none. */
export function compensationIn(xml: string): CompensationModel | null {
  if (!xml.includes('compensateEventDefinition')) return null;
  const document = new DOMParser().parseFromString(xml, 'text/xml');
  const all = [...document.getElementsByTagNameNS(BPMN, '*')];
  const byId = new Map(all.map((element) => [element.getAttribute('id'), element]));
  const handlers = new Map(
    all
      .filter(({ localName }) => localName === 'association')
      .map((one) => [one.getAttribute('sourceRef'), one.getAttribute('targetRef')]),
  );
  return {
    reachOf(id) {
      if (id === null) return { scopes: [null], only: null, throws: false };
      const element = byId.get(id);
      if (!element) return null;
      const scope = scopeOf(element);
      return scope ? { scopes: [scope], only: null, throws: false } : thrownBy(element);
    },
    handlerOf: (event) => handlers.get(event) ?? event,
  };
}

/** The keys of the live scopes of a compensation. */
export async function liveScopes(instance: string, reach: Reach, abort: AbortSignal): Promise<string[]> {
  const ids = reach.scopes.filter((id) => id !== null);
  const found = ids.length
    ? await search<ElementInstance>(
        'element-instances',
        {
          filter: { processInstanceKey: instance, elementId: { $in: ids }, state: 'ACTIVE' },
          page: { limit: MOST_SCOPES },
        },
        abort,
      )
    : { items: [] };
  const keys = found.items.map((one) => one.elementInstanceKey);
  return reach.scopes.includes(null) ? [instance, ...keys] : keys;
}

/** A page of what is registered in scopes, the latest first. `after`: the last key of the page before. */
export async function registeredIn(
  instance: string,
  scopes: readonly string[],
  only: string | null,
  after: string | null,
  abort: AbortSignal,
): Promise<Registrations> {
  const more = `${only ? `&elementId=${encodeURIComponent(only)}` : ''}${after ? `&after=${after}` : ''}`;
  const path = `/v2/process-instances/${instance}/compensations?limit=${PAGE}${more}`;
  const pages = await Promise.all(scopes.map((scope) => get<Registrations>(`${path}&scopeKey=${scope}`, abort)));
  const items = pages
    .flatMap((page) => page.items)
    .sort((a, b) => (BigInt(b.compensationKey) > BigInt(a.compensationKey) ? 1 : -1));
  const shown = items.slice(0, PAGE);
  const isMore = items.length > PAGE || pages.some((page) => page.next !== null);
  return { items: shown, next: isMore ? (shown.at(-1)?.compensationKey ?? null) : null };
}
