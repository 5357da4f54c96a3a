// The only importer of bpmn-js: draws a model, marks its elements, and makes them reachable by keyboard.

import outline from 'bpmn-js/lib/features/outline';
import Viewer from 'bpmn-js/lib/NavigatedViewer';
import '@fontsource/arimo/400.css';
import 'bpmn-js/dist/assets/diagram-js.css';
import { type Badges, badge } from './badges.ts';
import { type Carrying, carry } from './carrying.ts';
import type { Ghost } from './difference.ts';
import { around, type Box, fitted, heatColour, type Point, pathOf } from './geometry.ts';
import type { Drawable } from './global_task.ts';
import { classesOf, type Mark, type Marks, plannedText, SIGNS } from './marks.ts';

/** As wide as Arial, for which modelers place labels, and which many systems lack. */
const FONT = 'Arimo, Arial, sans-serif';
/** The longest that a diagram waits for this face. */
const FONT_MS = 1_000;

type Shape = Box & {
  id: string;
  type: string;
  waypoints?: Point[];
  parent?: Shape;
  labelTarget?: Shape;
  children?: Shape[];
  hidden?: boolean;
  incoming: Shape[];
  outgoing: Shape[];
  source?: Shape;
  target?: Shape;
  businessObject: { name?: string };
};
type Canvas = {
  addMarker(id: string, marker: string): void;
  removeMarker(id: string, marker: string): void;
  scrollToElement(shape: Shape, padding: number): void;
  viewbox(box?: Box | false): Box & { inner: Box; outer: Box };
  getLayer(name: string, index: number): SVGGElement;
};
type Registry = {
  updateId(id: string, to: string): void;
  get(id: string): Shape | undefined;
  filter(test: (shape: Shape) => boolean): Shape[];
  getGraphics(id: string): SVGGElement;
};
type Overlays = {
  clear(): void;
  add(id: string, overlay: { position: Record<string, number>; html: HTMLElement }): void;
};
type Services = {
  canvas: Canvas;
  elementRegistry: Registry;
  overlays: Overlays;
  outline: { createOutline(shape: Shape): void };
  selection: { select(shape: Shape | null): void };
  eventBus: {
    on(name: string, call: (event: { element: Shape }) => void): void;
    off(name: string, call: () => void): void;
  };
};

export type Words = { diagram: string; active: string; incident: string; completed: string; planned: string };
export type Diagram = {
  show(marks: Marks, badges: Badges): void;
  heat(counts: ReadonlyMap<string, number> | null): void;
  select(id: string | null): void;
  fit(): void;
  zoom(by: number): void;
  travel(flow: string): void;
  /** The place of an element on the page; null if it is not in the diagram. */
  boxOf(id: string): DOMRect | null;
  /** Calls when another part of the diagram is shown. The answer ends it. */
  onView(call: () => void): () => void;
  /** Let tokens be dragged. The answer ends it. */
  carry(rules: Carrying): () => void;
  names(): Map<string, string>;
  destroy(): void;
};

function svg(tag: string, attributes: Record<string, string | number>): SVGElement {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}

const kind = (shape: Shape): string =>
  shape.type
    .replace('bpmn:', '')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
const label = (shape: Shape): string => `${shape.businessObject.name || shape.id}, ${kind(shape)}`;

const described = (shape: Shape, mark: Mark | undefined, plan: string, words: Words, change = ''): string =>
  [
    label(shape),
    change,
    mark?.incidents && `${mark.incidents} ${words.incident}`,
    mark?.active && `${mark.active} ${words.active}`,
    mark?.completed && `${mark.completed} ${words.completed}`,
    plan && `${words.planned} ${plan}`,
  ]
    .filter(Boolean)
    .join(', ');

/** Outlines where removed elements were, with their names. The list beside says the same. */
function drawGhosts(layer: SVGGElement, ghosts: readonly Ghost[]): void {
  const drawn = ghosts.flatMap(({ name, box, way }) => {
    if (!box) return [svg('path', { d: pathOf(way), class: 'ghost' })];
    const text = svg('text', { x: box.x + box.width / 2, y: box.y + box.height + 14, class: 'ghost' });
    text.textContent = `${SIGNS.removed} ${name}`;
    const { x, y, width, height } = box;
    return [svg('rect', { x, y, width, height, rx: 8, class: 'ghost' }), text];
  });
  layer.replaceChildren(...drawn);
}

const NEXT: Record<string, (shape: Shape, all: Shape[]) => Shape | undefined> = {
  ArrowRight: (shape) => shape.outgoing[0]?.target,
  ArrowLeft: (shape) => shape.incoming[0]?.source,
  ArrowDown: (shape, all) => all[(all.indexOf(shape) + 1) % all.length],
  ArrowUp: (shape, all) => all[(all.indexOf(shape) + all.length - 1) % all.length],
};

/** Every shape is a button in the order of the model; left and right follow the flow. One of them is in the tab order. */
function reachable(shapes: Shape[], services: Services, onSelect: (id: string) => void): void {
  const graphics = (shape: Shape) => services.elementRegistry.getGraphics(shape.id);
  const pressed = (shape: Shape, event: KeyboardEvent): void => {
    if (event.key === 'Enter' || event.key === ' ') onSelect(shape.id);
    else if (!NEXT[event.key]) return;
    event.preventDefault();
    event.stopPropagation();
    const next = NEXT[event.key]?.(shape, shapes);
    if (!next) return;
    graphics(shape).setAttribute('tabindex', '-1');
    graphics(next).setAttribute('tabindex', '0');
    graphics(next).focus();
    services.canvas.scrollToElement(next, 60);
  };
  for (const shape of shapes) {
    const element = graphics(shape);
    element.setAttribute('role', 'button');
    element.setAttribute('tabindex', shape === shapes[0] ? '0' : '-1');
    element.addEventListener('focus', () => services.outline.createOutline(shape));
    element.addEventListener('keydown', (event) => pressed(shape, event));
  }
}

function drawHeat(layer: SVGGElement, counts: ReadonlyMap<string, number>, registry: Registry): void {
  const most = Math.max(1, ...counts.values());
  const r = 16;
  layer.style.filter = 'blur(14px)';
  layer.style.mixBlendMode = 'var(--heat-blend)';
  for (const [id, n] of counts) {
    const shape = registry.get(id);
    if (!shape || shape.waypoints || shape.children?.length) continue;
    const box = { x: shape.x - r, y: shape.y - r, width: shape.width + 2 * r, height: shape.height + 2 * r };
    layer.append(svg('rect', { ...box, rx: 30, fill: heatColour(n / most), 'fill-opacity': 0.25 + (0.5 * n) / most }));
  }
}

/** Raises an error if the model cannot be read or has no diagram. `extension`: more options of the viewer. */
export async function createDiagram(
  host: HTMLElement,
  { xml, ids }: Drawable,
  words: Words,
  onSelect: (id: string) => void,
  extension: { additionalModules?: unknown[] } = {},
): Promise<Diagram> {
  const bpmnRenderer = {
    defaultFillColor: 'var(--shape)',
    defaultStrokeColor: 'var(--stroke)',
    defaultLabelColor: 'var(--fg)',
  };
  const textRenderer = { defaultStyle: { fontFamily: FONT } };
  const additionalModules = [outline, ...(extension.additionalModules ?? [])];
  const options = { ...extension, container: host, additionalModules, bpmnRenderer, textRenderer };
  const viewer = new Viewer(options as object);
  try {
    // Labels break where this face says. A browser that does not get it, or not soon, draws them in another one.
    const late = new Promise((done) => setTimeout(done, FONT_MS));
    await Promise.race([document.fonts.load(`12px ${FONT}`, xml).catch(() => []), late]);
    await viewer.importXML(xml);
  } catch (error) {
    viewer.destroy();
    throw error;
  }
  const service = <N extends keyof Services>(name: N): Services[N] => viewer.get(name);
  const services: Services = {
    canvas: service('canvas'),
    elementRegistry: service('elementRegistry'),
    overlays: service('overlays'),
    outline: service('outline'),
    selection: service('selection'),
    eventBus: service('eventBus'),
  };
  const { canvas, elementRegistry: registry, overlays } = services;
  for (const [drawn, id] of ids) registry.updateId(drawn, id);
  const shapes = registry.filter(
    (shape) => !shape.waypoints && !!shape.parent && !shape.labelTarget && shape.type !== 'label',
  );
  const surface = host.querySelector('svg')!;
  surface.setAttribute('role', 'group');
  surface.setAttribute('aria-label', words.diagram);
  host.querySelector('.djs-minimap')?.setAttribute('aria-hidden', 'true'); // it has nothing for the keyboard
  reachable(shapes, services, onSelect);
  for (const shape of shapes) registry.getGraphics(shape.id).setAttribute('aria-label', label(shape));
  services.eventBus.on('element.click', ({ element }) => {
    if (element.parent) onSelect(element.labelTarget?.id ?? element.id);
  });
  /** The element that a node of the page belongs to, also a badge or a label; null for flows and the ground. */
  const elementAt = (node: Element): string | null => {
    const owner = node.closest<HTMLElement>('[data-element-id], [data-container-id]');
    const shape = registry.get(owner?.dataset.elementId ?? owner?.dataset.containerId ?? '');
    const found = shape?.labelTarget ?? shape;
    return found?.parent && !found.waypoints ? found.id : null;
  };
  let ghosts: Box[] = [];
  const fit = (): void => {
    const { inner, outer } = canvas.viewbox(false);
    if (outer.width > 0 && outer.height > 0) canvas.viewbox(fitted(around([inner, ...ghosts]), outer));
  };
  const marked: [string, string][] = [];
  const add = (id: string, marker: string): void => {
    if (registry.get(id)) {
      canvas.addMarker(id, marker);
      marked.push([id, marker]);
    }
  };
  return {
    fit,
    zoom(by) {
      const { x, y, width, height } = canvas.viewbox(false);
      canvas.viewbox({
        x: x + (width - width / by) / 2,
        y: y + (height - height / by) / 2,
        width: width / by,
        height: height / by,
      });
    },
    show(marks, badges) {
      for (const [id, marker] of marked.splice(0)) canvas.removeMarker(id, marker);
      overlays.clear();
      for (const id of marks.flows) add(id, 'is-taken');
      for (const id of marks.offered ?? []) add(id, 'is-offered');
      for (const [id, mark] of marks.elements) {
        const shape = registry.get(id);
        if (!shape?.parent) continue;
        for (const marker of classesOf(mark)) add(id, shape.children?.length ? `${marker}-around` : marker);
        const { left, right } = badges(mark);
        if (left) overlays.add(id, { position: { bottom: 11, left: -9 }, html: badge(left) });
        if (right) overlays.add(id, { position: { top: -11, right: 11 }, html: badge(right) });
      }
      for (const [id, plan] of marks.planned ?? []) {
        if (!registry.get(id)) continue;
        if (plan.leaves) add(id, 'is-leaving');
        if (plan.joins) add(id, 'is-joining');
        if (plan.wrong) add(id, 'is-wrong');
        const sign = { text: `${plannedText(plan)}${plan.wrong ? ' !' : ''}`, tone: plan.wrong ? 'bad' : 'plan' };
        overlays.add(id, { position: { bottom: 11, right: 26 }, html: badge(sign) });
      }
      for (const [id, { change }] of marks.differing ?? []) {
        add(id, `is-${change}`);
        const shape = registry.get(id);
        if (shape?.parent && !shape.waypoints)
          overlays.add(id, { position: { top: -11, right: 11 }, html: badge({ text: SIGNS[change], tone: change }) });
      }
      if (marks.ghosts) {
        drawGhosts(canvas.getLayer('ghosts', 1), marks.ghosts);
        ghosts = marks.ghosts.flatMap(({ box }) => box ?? []);
        fit();
      }
      for (const shape of shapes) {
        const plan = marks.planned?.get(shape.id);
        const text = described(
          shape,
          marks.elements.get(shape.id),
          plan ? plannedText(plan) : '',
          words,
          marks.differing?.get(shape.id)?.word,
        );
        registry.getGraphics(shape.id).setAttribute('aria-label', text);
      }
    },
    heat(counts) {
      const layer = canvas.getLayer('heat', 1);
      layer.replaceChildren();
      if (counts) drawHeat(layer, counts, registry);
    },
    select(id) {
      services.selection.select((id && registry.get(id)) || null);
    },
    travel(flow) {
      const points = registry.get(flow)?.waypoints;
      if (!points || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
      const dot = svg('circle', { r: 6, class: 'traveller' }) as SVGCircleElement;
      dot.style.offsetPath = `path("${pathOf(points)}")`;
      canvas.getLayer('travel', 2).append(dot);
      const moving = dot.animate([{ offsetDistance: '0%' }, { offsetDistance: '100%' }], {
        duration: 350,
        easing: 'ease-in-out',
      });
      void moving.finished.finally(() => dot.remove());
    },
    boxOf(id) {
      if (!registry.get(id)) return null;
      const drawn = registry.getGraphics(id);
      return (drawn.querySelector('.djs-visual') ?? drawn).getBoundingClientRect();
    },
    onView(call) {
      services.eventBus.on('canvas.viewbox.changed', call);
      return () => services.eventBus.off('canvas.viewbox.changed', call);
    },
    carry: (rules) =>
      carry(
        host,
        elementAt,
        { add: (id) => canvas.addMarker(id, 'is-target'), remove: (id) => canvas.removeMarker(id, 'is-target') },
        rules,
      ),
    names: () =>
      new Map(
        registry.filter((shape) => !!shape.businessObject?.name).map((shape) => [shape.id, shape.businessObject.name!]),
      ),
    destroy: () => viewer.destroy(),
  };
}
