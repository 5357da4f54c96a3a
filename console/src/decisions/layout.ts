// Graphs whose file draws no diagram: each node stands above those that it requires.
import type { Bounds, Graph, Node, Point } from './model.ts';

const WIDTH = 180;
const HEIGHT = 80;
const BESIDE = 40;
const BETWEEN = 60;

/** The level of each node: one above the highest of what it requires. Cycles, which knowledge may have, end where they close. */
function levelsOf(nodes: ReadonlyMap<string, Node>): Map<string, number> {
  const levels = new Map<string, number>();
  const open = new Set<string>();
  for (const start of nodes.keys()) {
    const path = [start];
    while (path.length) {
      const id = path.at(-1)!;
      const required = nodes.get(id)!.requires.map(({ from }) => from);
      open.add(id);
      const next = required.find((each) => !levels.has(each) && !open.has(each));
      if (next !== undefined) path.push(next);
      else {
        if (!levels.has(id)) levels.set(id, Math.max(-1, ...required.map((each) => levels.get(each) ?? -1)) + 1);
        path.pop();
      }
    }
  }
  return levels;
}

/** The nodes by level, each near those that it requires. */
function rowsOf({ nodes }: Graph): string[][] {
  const levels = levelsOf(nodes);
  const rows: string[][] = [];
  for (const id of nodes.keys()) {
    const level = levels.get(id)!;
    rows[level] = [...(rows[level] ?? []), id];
  }
  const at = new Map<string, number>();
  for (const row of rows) {
    const wanted = (id: string): number => {
      const below = nodes.get(id)!.requires.map(({ from }) => at.get(from) ?? 0);
      return below.length ? below.reduce((sum, each) => sum + each, 0) / below.length : 0;
    };
    row.sort((a, b) => wanted(a) - wanted(b));
    for (const [i, id] of row.entries()) at.set(id, i - (row.length - 1) / 2);
  }
  return rows;
}

function placed(graph: Graph): Map<string, Bounds> {
  const rows = rowsOf(graph);
  const widest = Math.max(...rows.map((row) => row.length));
  return new Map(
    rows.flatMap((row, level) =>
      row.map((id, i) => [
        id,
        {
          x: (i + (widest - row.length) / 2) * (WIDTH + BESIDE),
          y: (rows.length - 1 - level) * (HEIGHT + BETWEEN),
          width: WIDTH,
          height: HEIGHT,
        },
      ]),
    ),
  );
}

const middleOf = ({ x, y, width, height }: Bounds): Point => ({ x: x + width / 2, y: y + height / 2 });

/** The point on the border of a node on the straight way from its middle to a point. */
function border(of: Bounds, to: Point): Point {
  const { width, height } = of;
  const middle = middleOf(of);
  const [dx, dy] = [to.x - middle.x, to.y - middle.y];
  const by = Math.min(width / 2 / Math.max(Math.abs(dx), 1e-6), height / 2 / Math.max(Math.abs(dy), 1e-6), 1);
  return { x: middle.x + dx * by, y: middle.y + dy * by };
}

export type Drawn = { bounds: Map<string, Bounds>; edges: { id: string; kind: string; points: Point[] }[] };

/** The diagram of the file if it shows all decisions, else one of our own. All coordinates are 0 or more. */
export function drawn(graph: Graph): Drawn {
  const hasDiagram = [...graph.nodes.values()].every(({ id, kind }) => kind !== 'decision' || graph.bounds.has(id));
  const among = [...(hasDiagram ? graph.bounds : placed(graph))].filter(([id]) => graph.nodes.has(id));
  const left = Math.min(...among.map(([, { x }]) => x));
  const top = Math.min(...among.map(([, { y }]) => y));
  const bounds = new Map(among.map(([id, each]) => [id, { ...each, x: each.x - left, y: each.y - top }]));
  const edges = [...bounds].flatMap(([id, to]) =>
    graph.nodes.get(id)!.requires.flatMap(({ id: requirement, kind, from }) => {
      const start = bounds.get(from);
      if (!start || from === id) return [];
      const way = hasDiagram
        ? graph.ways.get(requirement)?.map(({ x, y }) => ({ x: x - left, y: y - top }))
        : undefined;
      return [{ id: requirement, kind, points: way ?? [border(start, middleOf(to)), border(to, middleOf(start))] }];
    }),
  );
  return { bounds, edges };
}
