// Two versions of a process: which elements were added, removed or changed, and what changed of them. Places in the diagram do not count.

import { hasDiagram } from './layout.ts';

const MODEL = 'http://www.omg.org/spec/BPMN/20100524/MODEL';
const SCOPE = /^(process|subProcess|adHocSubProcess|transaction|laneSet|lane|global\w*Task)$/;
/** Elements that say nothing of their own: flows name their ends. */
const SILENT = new Set(['incoming', 'outgoing', 'flowNodeRef', 'extensionElements']);
/** References to elements of the file that have no place in a diagram, whose content counts instead of their ids. */
const REFERENCE = /^(message|signal|error|escalation)Ref$/;
/** The attributes that tell elements of one kind in one list apart. */
const NAMES = ['target', 'key', 'name', 'type', 'source', 'id'];

export type Change = 'added' | 'removed' | 'changed';
/** A detail that differs; null where there is none. */
export type Fact = { name: string; before: string | null; after: string | null };
export type Difference = { id: string; name: string; kind: string; change: Change; facts: Fact[] };

const attributesOf = (element: Element): Attr[] =>
  [...element.attributes].filter(({ name }) => name !== 'id' && !/^(xmlns|xsi)(:|$)/.test(name));

const isElement = (one: Element): boolean =>
  one.namespaceURI === MODEL && one.id !== '' && SCOPE.test(one.parentElement?.localName ?? '');

/** The details of an element, without those of elements in it: path → value. */
function factsOf(element: Element, byId: ReadonlyMap<string, Element>): Map<string, string> {
  const facts = new Map<string, string>();
  const put = (path: string, value: string): void => {
    let name = path;
    for (let n = 2; facts.has(name); n++) name = `${path} (${n})`;
    facts.set(name, value);
  };
  const read = (one: Element, path: string, isNested: boolean): void => {
    for (const { localName, value } of attributesOf(one)) {
      const meant = REFERENCE.test(localName) ? byId.get(value) : undefined;
      if (meant && meant !== one) read(meant, path + localName.replace('Ref', ' '), true);
      else put(path + localName, value);
    }
    const inside = [...one.children].filter((child) => !isElement(child));
    if (!one.childElementCount) {
      const text = one.textContent?.trim();
      if (text) put(path.trim() || one.localName, text);
      else if (isNested && !attributesOf(one).length) put(path.trim(), '✓');
    }
    for (const child of inside) {
      const alike = inside.filter(({ localName }) => localName === child.localName).length > 1;
      const own = alike ? NAMES.map((name) => child.getAttribute(name)).find(Boolean) : undefined;
      const step = own ? `${child.localName} “${own}” ` : `${child.localName} `;
      if (child.localName === 'extensionElements') read(child, path, false);
      else if (!SILENT.has(child.localName)) read(child, path + step, true);
    }
  };
  read(element, '', false);
  const scope = element.parentElement;
  if (scope && scope.localName !== 'process' && isElement(scope)) put('scope', scope.id);
  return facts;
}

/** The lane of each flow node that is in one. */
const lanesIn = (all: readonly Element[]): Map<string, string> =>
  new Map(
    all
      .filter(({ localName }) => localName === 'flowNodeRef')
      .map((one) => [one.textContent?.trim() ?? '', one.parentElement?.id ?? '']),
  );

type Known = { element: Element; facts: Map<string, string> };

/** The elements of a process by id, itself in front. */
function elementsOf(xml: string, process: string): Map<string, Known> {
  const file = new DOMParser().parseFromString(xml, 'text/xml');
  const all = [...file.getElementsByTagNameNS(MODEL, '*')];
  const byId = new Map(all.filter(({ id }) => id).map((one) => [one.id, one]));
  const root = byId.get(process);
  const lanes = lanesIn(all);
  const parts = root ? [root, ...root.getElementsByTagNameNS(MODEL, '*')] : [];
  return new Map(
    parts
      .filter((one) => one === root || isElement(one))
      .map((element) => {
        const lane = lanes.get(element.id);
        const facts = factsOf(element, byId);
        return [element.id, { element, facts: lane ? facts.set('lane', lane) : facts }];
      }),
  );
}

function differing(before: Map<string, string>, after: Map<string, string>): Fact[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .map((name) => ({ name, before: before.get(name) ?? null, after: after.get(name) ?? null }))
    .filter((fact) => fact.before !== fact.after);
}

/** The differences, in the order of the newer model, and then the removed elements. Elements are the same if their ids and kinds are. */
export function differencesOf(before: string, after: string, process: string): Difference[] {
  const [old, now] = [elementsOf(before, process), elementsOf(after, process)];
  const made = ({ element }: Known, change: Change, facts: Fact[] = []): Difference => ({
    id: element.id,
    name: element.getAttribute('name') ?? '',
    kind: element.localName,
    change,
    facts,
  });
  const kept = [...now.values()].flatMap((one) => {
    const was = old.get(one.element.id);
    if (!was) return [made(one, 'added')];
    const facts = differing(
      new Map([['element', was.element.localName], ...was.facts]),
      new Map([['element', one.element.localName], ...one.facts]),
    );
    return facts.length ? [made(one, 'changed', facts)] : [];
  });
  const gone = [...old.values()].filter(({ element }) => !now.has(element.id));
  return [...kept, ...gone.map((one) => made(one, 'removed'))];
}

export type Ghost = { id: string; name: string; box: DOMRectReadOnly | null; way: { x: number; y: number }[] };

const at = (of: Element, name: string): number => Number(of.getAttribute(name));

/** The places of removed elements in the diagram of the older model. None if one of the files places no elements: then places mean nothing. */
export function ghostsOf(xml: string, after: string, removed: readonly Difference[]): Ghost[] {
  if (!hasDiagram(xml) || !hasDiagram(after)) return [];
  const file = new DOMParser().parseFromString(xml, 'text/xml');
  const drawn = new Map(
    [...file.getElementsByTagName('*')]
      .filter(({ localName }) => localName === 'BPMNShape' || localName === 'BPMNEdge')
      .map((one) => [one.getAttribute('bpmnElement'), one]),
  );
  return removed.flatMap(({ id, name }) => {
    const parts = [...(drawn.get(id)?.children ?? [])];
    const bounds = parts.find(({ localName }) => localName === 'Bounds');
    const way = parts
      .filter(({ localName }) => localName === 'waypoint')
      .map((one) => ({ x: at(one, 'x'), y: at(one, 'y') }));
    const box = bounds
      ? new DOMRectReadOnly(at(bounds, 'x'), at(bounds, 'y'), at(bounds, 'width'), at(bounds, 'height'))
      : null;
    return box || way.length > 1 ? [{ id, name, box, way }] : [];
  });
}
