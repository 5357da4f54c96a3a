// Lines between the elements of two diagrams that stand side by side.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Diagram } from '../../diagram/diagram.ts';

export type Link = { from: string; to: string; strong: boolean };
type Drawn = { key: string; path: string; strong: boolean };
type LinksProps = { left: Diagram | null; right: Diagram | null; links: readonly Link[] };

/** A curve between two boxes of the page; null if one of them is out of sight. */
function pathBetween(left: Diagram, right: Diagram, { from, to }: Link, origin: DOMRect): string | null {
  const [a, b] = [left.boxOf(from), right.boxOf(to)];
  if (!a || !b) return null;
  const [x1, y1] = [a.right - origin.left, a.top + a.height / 2 - origin.top];
  const [x2, y2] = [b.left - origin.left, b.top + b.height / 2 - origin.top];
  const half = origin.width / 2;
  if (x1 < 0 || x1 > half || x2 < half || x2 > origin.width || Math.min(y1, y2) < 0 || Math.max(y1, y2) > origin.height)
    return null;
  const bend = (x2 - x1) / 2;
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
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
      drawn.value = links.flatMap((link) => {
        const path = pathBetween(left, right, link, origin);
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
