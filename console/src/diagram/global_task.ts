// A global task that is called runs as a process of its own, of which its file has no diagram: a start event, and the task.
// The engine calls them `<id>#start` and `<id>#task`. No id in a file may have the sign, so the diagram has others until it is drawn.
const KIND = /^global(Manual|User|Script|BusinessRule|)Task$/;
const NAMESPACES =
  'xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:i="http://www.omg.org/spec/BPMN/20100524/DI" ' +
  'xmlns:c="http://www.omg.org/spec/DD/20100524/DC" xmlns:d="http://www.omg.org/spec/DD/20100524/DI"';

export type Drawable = { xml: string; ids: ReadonlyMap<string, string> };

const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

const shape = (id: string, x: number, y: number, width: number, height: number): string =>
  `<i:BPMNShape bpmnElement="${id}"><c:Bounds x="${x}" y="${y}" width="${width}" height="${height}"/></i:BPMNShape>`;

/** The model of the process that a global task becomes, with its diagram; null if the id is not that of one. */
export function globalTaskIn(xml: string, id: string): Drawable | null {
  if (!/<[\w:.-]*global\w*Task/.test(xml)) return null;
  const root = new DOMParser().parseFromString(xml, 'text/xml').documentElement;
  const found = [...root.children].find((one) => KIND.test(one.localName) && one.getAttribute('id') === id);
  if (!found) return null;
  const kind = found.localName.replace(KIND, '$1Task').replace(/^./, (first) => first.toLowerCase());
  const [own, name] = [escaped(id), escaped(found.getAttribute('name') ?? id)];
  const [start, task, flow] = [`start:${own}`, `task:${own}`, `flow:${own}`] as const;
  const model = `<process id="${own}"><startEvent id="${start}"/><${kind} id="${task}" name="${name}"/>
    <sequenceFlow id="${flow}" sourceRef="${start}" targetRef="${task}"/></process>`;
  const drawn = `<i:BPMNDiagram><i:BPMNPlane bpmnElement="${own}">${shape(start, 100, 122, 36, 36)}${shape(task, 200, 100, 100, 80)}
    <i:BPMNEdge bpmnElement="${flow}"><d:waypoint x="136" y="140"/><d:waypoint x="200" y="140"/></i:BPMNEdge>
    </i:BPMNPlane></i:BPMNDiagram>`;
  return {
    xml: `<definitions ${NAMESPACES} targetNamespace="">${model}${drawn}</definitions>`,
    ids: new Map(['start', 'task', 'flow'].map((part) => [`${part}:${id}`, `${id}#${part}`])),
  };
}
