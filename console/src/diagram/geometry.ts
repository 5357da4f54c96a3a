// Pure geometry of diagrams.
export type Point = { x: number; y: number };
export type Box = Point & { width: number; height: number };

const MARGIN = 28;
const LARGEST = 1.4;

/** The part of the diagram to show, so that `inner` is whole in a canvas of the size of `outer`, with room for badges. */
export function fitted(inner: Box, outer: { width: number; height: number }): Box {
  const scale = Math.min(outer.width / (inner.width + 2 * MARGIN), outer.height / (inner.height + 2 * MARGIN), LARGEST);
  const width = outer.width / scale;
  const height = outer.height / scale;
  return { x: inner.x + inner.width / 2 - width / 2, y: inner.y + inner.height / 2 - height / 2, width, height };
}

/** The smallest box around some. */
export function around(boxes: readonly Box[]): Box {
  const [x, y] = [Math.min(...boxes.map((one) => one.x)), Math.min(...boxes.map((one) => one.y))];
  const right = Math.max(...boxes.map((one) => one.x + one.width));
  const bottom = Math.max(...boxes.map((one) => one.y + one.height));
  return { x, y, width: right - x, height: bottom - y };
}

/** From cold to hot, 0 to 1. */
export const heatColour = (share: number): string => `hsl(${Math.round(70 - 62 * share)} 95% 55%)`;

/** The waypoints of a flow as an SVG path. */
export const pathOf = (points: readonly Point[]): string => `M${points.map(({ x, y }) => `${x} ${y}`).join('L')}`;
