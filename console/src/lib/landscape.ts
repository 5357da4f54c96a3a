// Calls between processes: the call activities, messages, decisions and forms in the latest version of each process.
import { search } from './api.ts';
import { modelOf } from './models.ts';
import type { Definition, PageInfo } from './shapes.ts';

const MODEL = 'http://www.omg.org/spec/BPMN/20100524/MODEL';
const MOST = 100;
/** As many requests as a browser sends to one server at once. */
const TOGETHER = 6;
const THROWS = /^(intermediateThrowEvent|endEvent|sendTask)$/;

export type Kind = 'process' | 'decision' | 'form' | 'message';
/** Tenants may have things with the same ids. */
export type Thing = { kind: Kind; id: string; tenantId: string };
/** `element`: by which it is called; null for a process that waits for a message. */
export type Call = { from: Thing; to: Thing; element: string };
/** `unread`: the models that cannot be read now. */
export type Landscape = { processes: Definition[]; page: PageInfo; calls: Call[]; unread: string[] };

export const keyOf = ({ kind, id, tenantId }: Thing): string => `${kind} ${id} ${tenantId}`;

const attributeIn = (element: Element, tag: string, name: string): string | null =>
  [...element.getElementsByTagName('*')].find((one) => one.localName === tag)?.getAttribute(name) ?? null;

/** The calls of one process, in the order of its file, within its tenant. An id may be an expression, which begins with `=`. */
export function callsIn(xml: string, process: string, tenantId: string): Call[] {
  const file = new DOMParser().parseFromString(xml, 'text/xml');
  const all = [...file.getElementsByTagNameNS(MODEL, '*')];
  const messages = new Map(all.filter((one) => one.localName === 'message').map((one) => [one.id, one]));
  const self: Thing = { kind: 'process', id: process, tenantId };
  const calls = (element: Element): [Kind, string | null][] => {
    if (element.localName === 'callActivity')
      return [['process', attributeIn(element, 'calledElement', 'processId') ?? element.getAttribute('calledElement')]];
    if (element.localName === 'businessRuleTask')
      return [['decision', attributeIn(element, 'calledDecision', 'decisionId')]];
    if (/^(userTask|startEvent)$/.test(element.localName))
      return [['form', attributeIn(element, 'formDefinition', 'formId')]];
    return [];
  };
  const root = all.find((one) => one.localName === 'process' && one.id === process);
  return [...(root?.getElementsByTagNameNS(MODEL, '*') ?? [])].flatMap((element) => {
    const name = element.getAttribute('name') || element.id;
    const made = calls(element).flatMap(([kind, id]) =>
      id ? [{ from: self, to: { kind, id, tenantId }, element: name }] : [],
    );
    const ref = element.getAttribute('messageRef');
    const owner = element.localName === 'messageEventDefinition' ? element.parentElement! : element;
    const message = ref ? messages.get(ref)?.getAttribute('name') : null;
    if (!message) return made;
    const to: Thing = { kind: 'message', id: message, tenantId };
    const by = owner.getAttribute('name') || owner.id;
    return [
      ...made,
      THROWS.test(owner.localName) ? { from: self, to, element: by } : { from: to, to: self, element: by },
    ];
  });
}

/** The newest versions of the first processes by name, and their calls. Raises Problem. */
export async function landscape(abort: AbortSignal): Promise<Landscape> {
  const { items, page } = await search<Definition>(
    'process-definitions',
    { filter: { isLatestVersion: true }, sort: [{ field: 'name', order: 'ASC' }], page: { limit: MOST } },
    abort,
  );
  const calls: Call[][] = items.map(() => []);
  const unread: string[] = [];
  const waiting = [...items.entries()];
  const read = async (): Promise<void> => {
    for (let next = waiting.shift(); next && !abort.aborted; next = waiting.shift()) {
      const [i, one] = next;
      try {
        calls[i] = callsIn(await modelOf(one.processDefinitionKey), one.processDefinitionId, one.tenantId);
      } catch {
        unread.push(one.processDefinitionId);
      }
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, read));
  return { processes: items, page, calls: calls.flat(), unread };
}

/** The calls that lead to a process, or from it, over any number of others. */
export function around(calls: readonly Call[], process: Thing): Call[] {
  const follow = (from: 'from' | 'to', to: 'from' | 'to'): Set<string> => {
    const found = new Set([keyOf(process)]);
    for (const key of found) for (const call of calls) if (keyOf(call[from]) === key) found.add(keyOf(call[to]));
    return found;
  };
  const [below, above] = [follow('from', 'to'), follow('to', 'from')];
  return calls.filter(({ from, to }) => below.has(keyOf(from)) || above.has(keyOf(to)));
}
