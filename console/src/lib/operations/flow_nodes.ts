// The flow nodes of a process, read from its XML: where tokens can be put, and the scopes around them.
import { globalTaskIn } from '../../diagram/global_task.ts';

const BPMN = 'http://www.omg.org/spec/BPMN/20100524/MODEL';
const IS_FLOW_NODE = /(Task|task|Event|Gateway|subProcess|transaction|callActivity|adHocSubProcess)$/;
const NO_TARGET = /^(startEvent|boundaryEvent)$/;

/** `scopes`: the ids of the sub-processes around it, the innermost first. `isTarget`: a modification can activate it. `isFirst`: an instance can start before it. */
export type FlowNode = { id: string; name: string; scopes: readonly string[]; isTarget: boolean; isFirst: boolean };

const idOf = (element: Element): string => element.getAttribute('id') ?? '';

function scopesOf(element: Element): string[] {
  const around = element.parentElement;
  return !around || around.localName === 'process' ? [] : [idOf(around), ...scopesOf(around)];
}

/** Whether an activity around the element has several instances. */
function isInLoop(element: Element): boolean {
  const around = element.parentElement;
  if (!around || around.localName === 'process') return false;
  return (
    [...around.children].some((child) => child.localName === 'multiInstanceLoopCharacteristics') || isInLoop(around)
  );
}

/** The ids of the elements behind event-based gateways. */
function behindEventGateways(document: Document): Set<string> {
  const all = (name: string) => [...document.getElementsByTagNameNS(BPMN, name)];
  const gateways = new Set(all('eventBasedGateway').map(idOf));
  const flows = all('sequenceFlow').filter((flow) => gateways.has(flow.getAttribute('sourceRef') ?? ''));
  return new Set(flows.map((flow) => flow.getAttribute('targetRef') ?? ''));
}

/** The flow nodes of a process, or of a global task that runs as one, in the order of its file. */
export function flowNodesOf(xml: string, processId: string): FlowNode[] {
  const task = globalTaskIn(xml, processId);
  if (!task) return nodesIn(xml, processId);
  return nodesIn(task.xml, processId).map((node) => ({ ...node, id: task.ids.get(node.id) ?? node.id }));
}

function nodesIn(xml: string, processId: string): FlowNode[] {
  const document = new DOMParser().parseFromString(xml, 'text/xml');
  const process = [...document.getElementsByTagNameNS(BPMN, 'process')].find((one) => idOf(one) === processId);
  const behind = behindEventGateways(document);
  return [...(process?.getElementsByTagNameNS(BPMN, '*') ?? [])]
    .filter((one) => IS_FLOW_NODE.test(one.localName) && idOf(one) !== '')
    .map((one) => {
      const isTarget = !NO_TARGET.test(one.localName) && !behind.has(idOf(one));
      const isFirst = isTarget && one.getAttribute('triggeredByEvent') !== 'true' && !isInLoop(one);
      return { id: idOf(one), name: one.getAttribute('name') ?? '', scopes: scopesOf(one), isTarget, isFirst };
    });
}
