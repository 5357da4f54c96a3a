// The drawing of a model. The deployed file stays as it is.
import { type Drawable, globalTaskIn } from './global_task.ts';

const HAS_DIAGRAM = /<(?:\w+:)?BPMNDiagram[\s>]/;

/** Whether the file places its elements. */
export const hasDiagram = (xml: string): boolean => HAS_DIAGRAM.test(xml);

/** The model with a diagram: of a global task as a process, and with elements that are placed now if the file places none. Raises an error if they cannot be placed. */
export async function withDiagram(xml: string, process: string | undefined): Promise<Drawable> {
  const task = process === undefined ? null : globalTaskIn(xml, process);
  if (task) return task;
  if (hasDiagram(xml)) return { xml, ids: new Map() };
  const { placed } = await import('./placed.ts');
  return { xml: await placed(xml, process), ids: new Map() };
}
