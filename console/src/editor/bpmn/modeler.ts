// The only importer of the modeler of bpmn-js and its panel of properties.

import { ZeebeVariableResolverModule } from '@bpmn-io/variable-resolver';
import Modeling from 'bpmn-js/lib/Modeler';
import { CloudElementTemplatesPropertiesProviderModule as TemplatesModule } from 'bpmn-js-element-templates';
import {
  BpmnPropertiesPanelModule,
  BpmnPropertiesProviderModule,
  ZeebePropertiesProviderModule,
} from 'bpmn-js-properties-panel';
import platform from 'camunda-bpmn-js-behaviors/lib/camunda-cloud';
import zeebe from 'zeebe-bpmn-moddle/resources/zeebe.json';
import '@fontsource/arimo/400.css';
import 'bpmn-js/dist/assets/diagram-js.css';
import 'bpmn-js/dist/assets/bpmn-js.css';
import 'bpmn-js/dist/assets/bpmn-font/css/bpmn-codes.css';
import 'bpmn-js-element-templates/dist/assets/element-templates.css';
import panelSheet from '@bpmn-io/properties-panel/dist/assets/properties-panel.css?url';
import '../../styles/bpmn_io.css';
import './bpmn.css';
import { badge } from '../../diagram/badges.ts';
import { type Box, fitted } from '../../diagram/geometry.ts';
import { withDiagram } from '../../diagram/layout.ts';
import { adoptStyles, useSheet } from '../adopted_styles.ts';
import { PLATFORM } from '../blank.ts';
import type { OnChange, ProcessModeler } from '../kinds.ts';
import { typedIsTaken } from '../typing.ts';
import { offerOf } from './templates/offer.ts';

type Element = { id: string; parent?: Element; businessObject?: { name?: string; $type?: string } };
type Viewbox = Box & { inner: Box; outer: Box };
type Services = {
  canvas: {
    addMarker(id: string, marker: string): void;
    removeMarker(id: string, marker: string): void;
    scrollToElement(element: Element, padding: number): void;
    viewbox(box?: Box | false): Viewbox;
    getRootElement(): Element;
  };
  elementRegistry: { get(id: string): Element | undefined };
  overlays: {
    remove(filter: { type: string }): void;
    add(id: string, type: string, overlay: { position: Record<string, number>; html: HTMLElement }): void;
  };
  selection: { select(element: Element): void };
  commandStack: { undo(): void; redo(): void; canUndo(): boolean; canRedo(): boolean };
  eventBus: { on(name: string, call: () => void): void };
};

const PROBLEM = 'problem';
/** The panel of properties takes what somebody types after this time, and for expressions once more. */
const TYPING_MS = 100;
const TAKEN_MS = 2 * TYPING_MS + 20;
/** The width of the tools over the diagram, in pixels. */
const TOOLS = 110;

/** Raises an error if the model cannot be read. A model without a diagram gets one. */
export async function createModeler(
  host: HTMLElement,
  panel: HTMLElement,
  xml: string,
  onChange: OnChange,
): Promise<ProcessModeler> {
  adoptStyles();
  const dropSheet = await useSheet(panelSheet);
  const modeler = new Modeling({
    container: host,
    propertiesPanel: { parent: panel },
    additionalModules: [
      BpmnPropertiesPanelModule,
      BpmnPropertiesProviderModule,
      ZeebePropertiesProviderModule,
      TemplatesModule,
      ZeebeVariableResolverModule,
      platform,
    ],
    moddleExtensions: { zeebe },
    debounceInput: TYPING_MS,
    elementTemplates: { engines: { camunda: PLATFORM } },
    bpmnRenderer: {
      defaultFillColor: 'var(--shape)',
      defaultStrokeColor: 'var(--stroke)',
      defaultLabelColor: 'var(--fg)',
    },
    textRenderer: { defaultStyle: { fontFamily: 'Arimo, Arial, sans-serif' } },
  } as object);
  let lost: string[];
  try {
    lost = (await modeler.importXML((await withDiagram(xml, undefined)).xml)).warnings.map((warning) =>
      String((warning as unknown as Error).message),
    );
  } catch (error) {
    modeler.destroy();
    dropSheet();
    throw error;
  }
  const service = <N extends keyof Services>(name: N): Services[N] => modeler.get(name);
  const [canvas, registry, overlays] = [service('canvas'), service('elementRegistry'), service('overlays')];
  const [stack, selection] = [service('commandStack'), service('selection')];
  let marked: string[] = [];
  let traced: [string, string][] = [];
  service('eventBus').on('commandStack.changed', () =>
    onChange({ canUndo: stack.canUndo(), canRedo: stack.canRedo() }, true),
  );
  const made: ProcessModeler = {
    lost,
    kind: 'bpmn',
    templates: offerOf((name) => modeler.get(name)),
    async content() {
      await typedIsTaken(TAKEN_MS);
      return (await modeler.saveXML({ format: true })).xml!;
    },
    title() {
      const { id, businessObject } = canvas.getRootElement();
      return businessObject?.name || id;
    },
    mark(ids) {
      for (const id of marked) if (registry.get(id)) canvas.removeMarker(id, 'is-wrong');
      overlays.remove({ type: PROBLEM });
      marked = [...ids].filter((id) => registry.get(id)?.parent);
      for (const id of marked) {
        canvas.addMarker(id, 'is-wrong');
        overlays.add(id, PROBLEM, { position: { top: -11, right: 11 }, html: badge({ text: '!', tone: 'bad' }) });
      }
    },
    trace(done, now) {
      for (const [id, marker] of traced) if (registry.get(id)) canvas.removeMarker(id, marker);
      const all = [...[...done].map((id) => [id, 'is-done']), ...[...now].map((id) => [id, 'is-active'])];
      traced = all.filter(([id]) => registry.get(id!)?.parent) as [string, string][];
      for (const [id, marker] of traced) canvas.addMarker(id, marker);
    },
    select(id) {
      const element = registry.get(id) ?? canvas.getRootElement();
      selection.select(element);
      if (element.parent) canvas.scrollToElement(element, 60);
    },
    undo: () => stack.undo(),
    redo: () => stack.redo(),
    zoom(by) {
      const { x, y, width, height } = canvas.viewbox(false);
      const [w, h] = [width / by, height / by];
      canvas.viewbox({ x: x + (width - w) / 2, y: y + (height - h) / 2, width: w, height: h });
    },
    fit() {
      const { inner, outer } = canvas.viewbox(false);
      const width = outer.width - TOOLS;
      if (width <= 0 || outer.height <= 0) return;
      const box = fitted(inner, { width, height: outer.height });
      const left = (TOOLS * box.width) / width;
      canvas.viewbox({ ...box, x: box.x - left, width: box.width + left });
    },
    destroy() {
      modeler.destroy();
      dropSheet();
    },
  };
  made.fit();
  return made;
}
