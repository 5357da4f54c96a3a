// Lines between the elements of two diagrams: side by side, or on a phone one below the other.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Diagram } from '../../diagram/diagram.ts';

export type Link = { from: string; to: string; strong: boolean };
type Drawn = { key: string; path: string; strong: boolean };
type LinksProps = { left: Diagram | null; right: Diagram | null; links: readonly Link[] };

const isInside = (x: number, y: number, { left, right, top, bottom }: DOMRect): boolean =>
  x >= left && x <= right && y >= top && y <= bottom;

/** A curve between two boxes of the page; null if one of them is out of sight. `frames`: of the diagrams. */
function pathBetween(a: DOMRect | null, b: DOMRect | null, frames: readonly DOMRect[], origin: DOMRect): string | null {
  if (!a || !b) return null;
  const [first, second] = [frames[0]!, frames[1]!];
  const isBelow = second.top >= first.bottom;
  const [x1, y1] = isBelow ? [a.left + a.width / 2, a.bottom] : [a.right, a.top + a.height / 2];
  const [x2, y2] = isBelow ? [b.left + b.width / 2, b.top] : [b.left, b.top + b.height / 2];
  if (!isInside(x1, y1, first) || !isInside(x2, y2, second)) return null;
  const [bendX, bendY] = isBelow ? [0, (y2 - y1) / 2] : [(x2 - x1) / 2, 0];
  const at = (x: number, y: number): string => `${x - origin.left} ${y - origin.top}`;
  return `M${at(x1, y1)}C${at(x1 + bendX, y1 + bendY)} ${at(x2 - bendX, y2 - bendY)} ${at(x2, y2)}`;
}

/** They follow when a diagram is moved. The table beside says the same. */
export function Links({ left, right, links }: LinksProps) {
  const host = useRef<SVGSVGElement>(null);
  const drawn = useSignal<readonly Drawn[]>([]);
  useEffect(() => {
    if (!left || !right) return;
    let asked = 0;
    const draw = (): void => {
      asked = 0;
      const origin = host.current!.getBoundingClientRect();
      const frames = [...host.current!.parentElement!.children].map((one) => one.getBoundingClientRect());
      drawn.value = links.flatMap((link) => {
        const path = pathBetween(left.boxOf(link.from), right.boxOf(link.to), frames, origin);
        return path ? [{ key: `${link.from} ${link.to}`, path, strong: link.strong }] : [];
      });
    };
    const soon = (): void => {
      asked ||= requestAnimationFrame(draw);
    };
    const stops = [left.onView(soon), right.onView(soon)];
    const watcher = new ResizeObserver(soon);
    watcher.observe(host.current!);
    soon();
    return () => {
      for (const stop of stops) stop();
      watcher.disconnect();
      cancelAnimationFrame(asked);
    };
  }, [left, right, JSON.stringify(links)]);
  return (
    <svg ref={host} class="links" aria-hidden="true">
      {drawn.value.map(({ key, path, strong }) => (
        <path key={key} d={path} class={strong ? 'strong' : undefined} />
      ))}
    </svg>
  );
}
