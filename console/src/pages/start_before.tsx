// Start before chosen elements instead of at the start event.
import { t } from '../lib/i18n.ts';
import { modelOf } from '../lib/models.ts';
import { useResource } from '../lib/resource.ts';
import type { Definition } from '../lib/shapes.ts';

type Place = { id: string; name: string };

const BPMN = 'http://www.omg.org/spec/BPMN/20100524/MODEL';
const NOT_BEFORE = /^(startEvent|boundaryEvent|sequenceFlow|association)$/;
const IS_FLOW_NODE = /(Task|task|Event|Gateway|subProcess|transaction|callActivity|adHocSubProcess)$/;

const canBegin = (element: Element): boolean =>
  IS_FLOW_NODE.test(element.localName) &&
  !NOT_BEFORE.test(element.localName) &&
  element.getAttribute('triggeredByEvent') !== 'true' &&
  !isInLoop(element) &&
  !followsEventGateway(element);

/** Whether an activity around the element has several instances. */
function isInLoop(element: Element): boolean {
  const around = element.parentElement;
  if (!around || around.localName === 'process') return false;
  return (
    [...around.children].some((child) => child.localName === 'multiInstanceLoopCharacteristics') || isInLoop(around)
  );
}

function followsEventGateway(element: Element): boolean {
  const { ownerDocument: document } = element;
  const all = (name: string) => [...document.getElementsByTagNameNS(BPMN, name)];
  const gateways = all('eventBasedGateway').map((gateway) => gateway.getAttribute('id'));
  const id = element.getAttribute('id');
  return all('sequenceFlow').some(
    (flow) => flow.getAttribute('targetRef') === id && gateways.includes(flow.getAttribute('sourceRef')),
  );
}

/** The elements of a process before which an instance can start. */
export function elementsOf(xml: string, processId: string): Place[] {
  const document = new DOMParser().parseFromString(xml, 'text/xml');
  const process = [...document.getElementsByTagNameNS(BPMN, 'process')].find(
    (one) => one.getAttribute('id') === processId,
  );
  return [...(process?.getElementsByTagName('*') ?? [])]
    .filter((one) => one.namespaceURI === BPMN && canBegin(one))
    .map((one) => ({ id: one.getAttribute('id') ?? '', name: one.getAttribute('name') ?? '' }))
    .filter(({ id }) => id !== '');
}

export function StartBefore({
  definition,
  chosen,
  onChange,
}: {
  definition: Definition;
  chosen: readonly string[];
  onChange: (ids: string[]) => void;
}) {
  const key = definition.processDefinitionKey;
  const xml = useResource(`xml ${key}`, () => modelOf(key)).data.value;
  const elements = xml ? elementsOf(xml, definition.processDefinitionId) : [];
  if (!elements.length) return null;
  const toggle = (id: string) => onChange(chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id]);
  return (
    <details class="commands">
      <summary>
        {t('start.before')}
        {chosen.length > 0 && `: ${chosen.join(', ')}`}
      </summary>
      <fieldset class="checks">
        <legend class="sr">{t('start.before')}</legend>
        {elements.map(({ id, name }) => (
          <label key={id} class="check">
            <input type="checkbox" checked={chosen.includes(id)} onChange={() => toggle(id)} /> {name || id}{' '}
            {name && <code class="dim">{id}</code>}
          </label>
        ))}
      </fieldset>
    </details>
  );
}
