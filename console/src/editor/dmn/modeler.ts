// The only importer of the modeler of dmn-js and its panel of properties.
import { signal } from '@preact/signals';
import Modeling from 'dmn-js/lib/Modeler';
import {
  DmnPropertiesPanelModule,
  DmnPropertiesProviderModule,
  ZeebePropertiesProviderModule,
} from 'dmn-js-properties-panel';
import zeebe from 'zeebe-dmn-moddle/resources/zeebe.json';
import '@fontsource/arimo/400.css';
import 'dmn-js/dist/assets/diagram-js.css';
import 'dmn-js/dist/assets/dmn-js-shared.css';
import 'dmn-js/dist/assets/dmn-js-drd.css';
import 'dmn-js/dist/assets/dmn-js-decision-table.css';
import 'dmn-js/dist/assets/dmn-js-decision-table-controls.css';
import 'dmn-js/dist/assets/dmn-js-literal-expression.css';
import 'dmn-js/dist/assets/dmn-js-boxed-expression.css';
import 'dmn-js/dist/assets/dmn-js-boxed-expression-controls.css';
import 'dmn-js/dist/assets/dmn-font/css/dmn-codes.css';
import panelSheet from '@bpmn-io/properties-panel/dist/assets/properties-panel.css?url';
import '../../styles/bpmn_io.css';
import './dmn.css';
import { adoptStyles, useSheet } from '../adopted_styles.ts';
import type { DecisionModeler, OnChange } from '../kinds.ts';
import { typedIsTaken } from '../typing.ts';
import { holds, type Moddle } from './model.ts';
import { PlacesModule } from './places.ts';

type Named = { id: string; name?: string };
type View = Named & { type: string; element: Moddle };
type Stack = { undo(): void; redo(): void; canUndo(): boolean; canRedo(): boolean };
type Diagram = {
  addMarker(id: string, marker: string): void;
  removeMarker(id: string, marker: string): void;
  zoom(to: string): void;
};
type Found = { select(element: object): void };
type Registry = { get(id: string): object | undefined };
type Titles = { update(name: 'name' | 'id', text: string): void };
type Panel = { attachTo(host: HTMLElement): void; detach(): void };
type Viewer = {
  on(name: string, call: (event: { trigger?: string }) => void): void;
  get<T>(service: string): T;
};

/** The diagram of what requires what is one of the views. */
const DIAGRAM = 'drd';
/** The views take what somebody types after this time, and for expressions once more. */
const TYPING_MS = 100;
/** The name of the file in the diagram has a time of its own in the library: 300 ms. */
const TAKEN_MS = 320;
const colours = {
  defaultFillColor: 'var(--shape)',
  defaultStrokeColor: 'var(--stroke)',
  defaultLabelColor: 'var(--fg)',
};

const named = ({ id, name }: Named) => ({ id, name: name || id });

/** Raises an error if the model cannot be read. */
export async function createModeler(
  host: HTMLElement,
  panel: HTMLElement,
  content: string,
  onChange: OnChange,
): Promise<DecisionModeler> {
  adoptStyles();
  const dropSheet = await useSheet(panelSheet);
  const modeler = new Modeling({
    container: host,
    common: { moddleExtensions: { zeebe }, debounceInput: TYPING_MS },
    moddleExtensions: { zeebe },
    [DIAGRAM]: {
      additionalModules: [
        DmnPropertiesPanelModule,
        DmnPropertiesProviderModule,
        ZeebePropertiesProviderModule,
        PlacesModule,
      ],
      drdRenderer: colours,
      textRenderer: { defaultStyle: { fontFamily: 'Arimo, Arial, sans-serif' } },
    },
  });
  const views: DecisionModeler['views'] = signal({ shown: '', all: [], decisions: [] });
  const shown = (): Viewer => modeler.getActiveViewer() as Viewer;
  const isDiagram = (): boolean => modeler.getActiveView()?.type === DIAGRAM;
  const stack = (): Stack => shown().get('commandStack');
  let wrong: string[] = [];
  let marked: string[] = [];
  let ready = false;
  const mark = (): void => {
    if (!isDiagram()) return;
    const [canvas, registry] = [shown().get<Diagram>('canvas'), shown().get<Registry>('elementRegistry')];
    for (const id of marked) if (registry.get(id)) canvas.removeMarker(id, 'is-wrong');
    marked = wrong.filter((id) => registry.get(id));
    for (const id of marked) canvas.addMarker(id, 'is-wrong');
  };
  const changed = (isModel: boolean): void =>
    onChange({ canUndo: stack().canUndo(), canRedo: stack().canRedo() }, isModel);
  /** Each view has its own viewer, whose changes end with it. */
  modeler.on('viewer.created', ({ viewer }) =>
    (viewer as Viewer).on('commandStack.changed', ({ trigger }) => {
      if (ready && modeler.getActiveViewer() === viewer) changed(trigger !== 'clear');
    }),
  );
  modeler.on('views.changed', () => {
    const all = (modeler.getViews() as View[]).map(named);
    const elements = (modeler.getDefinitions()?.drgElement ?? []) as (Named & Moddle)[];
    const decisions = elements.filter(({ $type }) => $type === 'dmn:Decision').map(named);
    views.value = { shown: modeler.getActiveView()?.id ?? '', all, decisions };
    if (!isDiagram()) return;
    marked = [];
    mark();
    shown().get<Panel>('propertiesPanel').attachTo(panel);
  });
  const open = async (id: string): Promise<void> => {
    const view = (modeler.getViews() as View[]).find((one) => one.id === id);
    if (!view) return;
    await modeler.open(view);
    if (isDiagram()) shown().get<Diagram>('canvas').zoom('fit-viewport');
    changed(false);
  };
  /** The name or the id of the file, which the library forgets if somebody leaves it sooner than it takes it. */
  const left = ({ target }: FocusEvent): void => {
    const field = target as HTMLElement;
    const name = (['name', 'id'] as const).find((one) => field.classList.contains(`dmn-definitions-${one}`));
    const text = field.textContent.trim();
    if (name && isDiagram() && text !== (modeler.getDefinitions()[name] ?? ''))
      shown().get<Titles>('definitionPropertiesEdit').update(name, text);
  };
  host.addEventListener('blur', left, { capture: true });
  let lost: string[];
  try {
    lost = (await modeler.importXML(content)).warnings.map(({ message }) => message);
  } catch (error) {
    modeler.destroy();
    dropSheet();
    throw error;
  }
  ready = true;
  if (isDiagram()) shown().get<Diagram>('canvas').zoom('fit-viewport');
  return {
    kind: 'dmn',
    lost,
    views,
    open,
    async content() {
      await typedIsTaken(TAKEN_MS);
      return (await modeler.saveXML({ format: true })).xml;
    },
    title: () => modeler.getDefinitions().name || modeler.getDefinitions().id,
    mark(ids) {
      wrong = [...ids];
      mark();
    },
    select(id) {
      const view = (modeler.getViews() as View[]).find(({ type, element }) => type !== DIAGRAM && holds(element, id));
      const drawn = isDiagram() ? shown().get<Registry>('elementRegistry').get(id) : undefined;
      if (drawn) shown().get<Found>('selection').select(drawn);
      else if (view) void open(view.id);
    },
    undo: () => stack().undo(),
    redo: () => stack().redo(),
    destroy() {
      modeler.destroy();
      dropSheet();
    },
  };
}
