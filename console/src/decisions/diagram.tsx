// Graphs, such as the requirement diagram: shapes and arrows are a picture, and each node is a link.
import { t } from '../lib/i18n.ts';
import { drawn } from './layout.ts';
import type { Bounds, Graph, Kind, Point } from './model.ts';

const MARGIN = 12;
const MOST = 300;
const CORNER = 16;

/** The outline of a node as a path: each kind has its own (DMN 1.5, chapter 6.2). */
function outline(kind: Kind, { x, y, width: w, height: h }: Bounds): string {
  if (kind === 'businessKnowledgeModel') {
    const c = Math.min(CORNER, w / 2, h / 2);
    return `M${x + c} ${y}H${x + w}V${y + h - c}L${x + w - c} ${y + h}H${x}V${y + c}Z`;
  }
  if (kind === 'knowledgeSource')
    return `M${x} ${y}H${x + w}V${y + h - 6}Q${x + w * 0.75} ${y + h - 18} ${x + w / 2} ${y + h - 6}T${x} ${y + h - 6}Z`;
  const r = kind === 'inputData' ? Math.min(h, w) / 2 : kind === 'decisionService' ? CORNER : 0;
  const arc = r ? (dx: number, dy: number) => `a${r} ${r} 0 0 1 ${dx} ${dy}` : () => '';
  return `M${x + r} ${y}H${x + w - r}${arc(r, r)}V${y + h - r}${arc(-r, r)}H${x + r}${arc(-r, -r)}V${y + r}${arc(r, -r)}Z`;
}

const pathOf = (points: readonly Point[]): string => points.map(({ x, y }, i) => `${i ? 'L' : 'M'}${x} ${y}`).join('');

type DiagramProps = {
  graph: Graph;
  selected: string | null;
  hrefOf: (id: string, kind: Kind) => string | null;
  label?: string;
  wordOf?: (kind: Kind) => string;
  /** Whether arrows lead to what a node requires. */
  down?: boolean;
};

export function RequirementDiagram({
  graph,
  selected,
  hrefOf,
  label = t('decision.graph'),
  wordOf = (kind) => t(`decision.kind.${kind}`),
  down = false,
}: DiagramProps) {
  if (graph.nodes.size > MOST) return <p class="dim">{t('decision.largeGraph', { n: graph.nodes.size })}</p>;
  const { bounds, edges } = drawn(graph);
  const right = Math.max(0, ...[...bounds.values()].map(({ x, width }) => x + width));
  const bottom = Math.max(0, ...[...bounds.values()].map(({ y, height }) => y + height));
  const nodes = [...bounds].map(([id, place]) => ({ node: graph.nodes.get(id)!, place }));
  return (
    <div class="scroll graph" tabIndex={0} role="region" aria-label={label}>
      <div class="drawn" style={{ width: `${right + 2 * MARGIN}px`, height: `${bottom + 2 * MARGIN}px` }}>
        <svg aria-hidden="true" width={right + 2 * MARGIN} height={bottom + 2 * MARGIN}>
          <defs>
            <marker id="drg-arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="9" markerHeight="9" orient="auto">
              <path class="tip" d="M0 0L8 4L0 8Z" />
            </marker>
          </defs>
          <g transform={`translate(${MARGIN} ${MARGIN})`}>
            {edges.map(({ kind, points }, i) => (
              <path
                key={i}
                class={`edge ${kind}`}
                d={pathOf(down ? [...points].reverse() : points)}
                marker-end="url(#drg-arrow)"
              />
            ))}
            {nodes.map(({ node, place }) => (
              <path
                key={node.id}
                class={node.id === selected ? `${node.kind} selected` : node.kind}
                d={outline(node.kind, place)}
              />
            ))}
          </g>
        </svg>
        {nodes.map(({ node: { id, kind, name }, place }) => {
          const to = hrefOf(id, kind);
          const style = {
            left: `${place.x + MARGIN}px`,
            top: `${place.y + MARGIN}px`,
            width: `${place.width}px`,
            height: `${place.height}px`,
          };
          const inside = (
            <>
              <span class="sr">{wordOf(kind)} </span>
              {name}
            </>
          );
          return to ? (
            <a key={id} class={kind} href={to} style={style} aria-current={id === selected ? 'true' : undefined}>
              {inside}
            </a>
          ) : (
            <span key={id} class={kind} style={style}>
              {inside}
            </span>
          );
        })}
      </div>
    </div>
  );
}
