// Tokens that are dragged from one element of a diagram to another one.
import { badge } from './badges.ts';

/** `text`: what the pointer carries. `onOver`: the element below it, if it can be dropped there. */
export type Carrying = {
  from: (id: string) => string | null;
  to: (id: string, from: string) => boolean;
  onDrop: (from: string, to: string) => void;
};
type Marked = { add(id: string): void; remove(id: string): void };

/** Distance in pixels from which a press is a drag and not a click. */
const SLACK = 4;

/** Let tokens be dragged. `elementAt`: the id of the shape that a node belongs to. The answer ends it. */
export function carry(
  host: HTMLElement,
  elementAt: (node: Element) => string | null,
  target: Marked,
  { from, to, onDrop }: Carrying,
): () => void {
  let source: string | null = null;
  let begun: PointerEvent | null = null;
  let token: HTMLElement | null = null;
  let over: string | null = null;
  const below = ({ clientX, clientY }: PointerEvent): string | null => {
    const node = document.elementFromPoint(clientX, clientY);
    const id = node && host.contains(node) ? elementAt(node) : null;
    return id && source && id !== source && to(id, source) ? id : null;
  };
  const aim = (id: string | null): void => {
    if (id === over) return;
    if (over) target.remove(over);
    if (id) target.add(id);
    over = id;
  };
  const end = (): void => {
    aim(null);
    token?.remove();
    token = source = begun = null;
  };
  const pressed = (event: PointerEvent): void => {
    const id = event.button === 0 ? elementAt(event.target as Element) : null;
    if (!id || from(id) === null) return;
    source = id;
    begun = event;
    event.stopPropagation();
  };
  const moved = (event: PointerEvent): void => {
    if (!source || !begun) return;
    if (!token) {
      if (Math.hypot(event.clientX - begun.clientX, event.clientY - begun.clientY) < SLACK) return;
      token = badge({ text: from(source) ?? '', tone: 'carried' });
      host.append(token);
      host.setPointerCapture(event.pointerId);
    }
    const box = host.getBoundingClientRect();
    token.style.translate = `${event.clientX - box.left}px ${event.clientY - box.top}px`;
    aim(below(event));
  };
  const released = (): void => {
    const [first, last] = [source, over];
    end();
    if (first && last) onDrop(first, last);
  };
  const cancelled = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && source) end();
  };
  /** The diagram would move with the pointer. */
  const held = (event: MouseEvent): void => {
    if (source) event.stopPropagation();
  };
  const stop = new AbortController();
  const early = { capture: true, signal: stop.signal };
  host.addEventListener('pointerdown', pressed, early);
  host.addEventListener('mousedown', held, early);
  host.addEventListener('pointermove', moved, early);
  host.addEventListener('pointerup', released, early);
  host.addEventListener('pointercancel', end, early);
  document.addEventListener('keydown', cancelled, early);
  return () => {
    end();
    stop.abort();
  };
}
