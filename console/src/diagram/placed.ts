// Places the elements of a model whose file places none.
import { layoutProcess } from 'bpmn-auto-layout';

const MODEL = 'http://www.omg.org/spec/BPMN/20100524/MODEL';
const DRAWN = 'http://www.omg.org/spec/BPMN/20100524/DI';
const ENDS = { sourceRef: 'outgoing', targetRef: 'incoming' } as const;

/** The model with a diagram of this process, by default the first one. Sub-processes show what is in them. Raises an error. */
export async function placed(xml: string, process: string | undefined): Promise<string> {
  const file = new DOMParser().parseFromString(xml, 'text/xml');
  const root = file.documentElement;
  const all = [...root.getElementsByTagNameNS(MODEL, '*')];
  const byId = new Map(all.map((one) => [one.getAttribute('id'), one]));
  const made = (parent: Element, name: string, attributes: Record<string, string> = {}): Element => {
    const one = parent.appendChild(file.createElementNS(name.startsWith('BPMN') ? DRAWN : MODEL, name));
    for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
    return one;
  };
  const shown = byId.get(process ?? '') ?? all.find((one) => one.localName === 'process');
  if (shown) root.prepend(shown); // the package places the first process only
  // It follows the flows that a node names. A file need not repeat them there.
  for (const flow of all.filter((one) => one.localName === 'sequenceFlow' && one.id)) {
    for (const [end, name] of Object.entries(ENDS)) {
      const node = byId.get(flow.getAttribute(end) ?? '');
      const named = [...(node?.children ?? [])].some(
        (one) => one.localName === name && one.textContent?.trim() === flow.id,
      );
      if (node && !named) made(node, name).textContent = flow.id;
    }
  }
  const plane = made(made(root, 'BPMNDiagram'), 'BPMNPlane', { bpmnElement: shown?.id ?? '' });
  const scopes = all.filter((one) => /^(subProcess|adHocSubProcess|transaction)$/.test(one.localName));
  for (const { id } of scopes) made(plane, 'BPMNShape', { id: `open:${id}`, bpmnElement: id, isExpanded: 'true' });
  const open = new Set(scopes.map(({ id }) => id));
  return drawnAround(await layoutProcess(new XMLSerializer().serializeToString(file)), open);
}

/** The model whose flows out of open sub-processes do not cross what is in them. */
function drawnAround(xml: string, open: ReadonlySet<string>): string {
  const file = new DOMParser().parseFromString(xml, 'text/xml');
  const drawn = [...file.getElementsByTagNameNS(DRAWN, '*')];
  const of = new Map(drawn.map((one) => [one.getAttribute('bpmnElement'), one]));
  const box = (id: string | null) => {
    const at = (name: string): number => Number(of.get(id)?.firstElementChild?.getAttribute(name));
    return { left: at('x'), right: at('x') + at('width'), middle: at('y') + at('height') / 2 };
  };
  for (const flow of file.getElementsByTagNameNS(MODEL, 'sequenceFlow')) {
    const [source, edge] = [flow.getAttribute('sourceRef'), of.get(flow.id)];
    const [from, to] = [box(source), box(flow.getAttribute('targetRef'))];
    const point = edge?.firstElementChild;
    if (!edge || !point || !open.has(source ?? '') || to.left <= from.right) continue;
    const turn = (from.right + to.left) / 2;
    const way = [
      [from.right, from.middle],
      [turn, from.middle],
      [turn, to.middle],
      [to.left, to.middle],
    ] as const;
    const points = way.map(([x, y]) => {
      const one = point.cloneNode() as Element;
      one.setAttribute('x', `${x}`);
      one.setAttribute('y', `${y}`);
      return one;
    });
    edge.replaceChildren(...points);
  }
  return new XMLSerializer().serializeToString(file);
}
