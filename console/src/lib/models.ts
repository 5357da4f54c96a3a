// The XML of process and decision definitions. It never changes, so it is read once.
import { get } from './api.ts';
import type { Definition } from './shapes.ts';

const MOST = 20;
const models = new Map<string, Promise<string>>();

/** The XML of a definition, by its key. `of`: its resource. Raises Problem. */
export function modelOf(key: string, of = 'process-definitions'): Promise<string> {
  const known = models.get(key);
  if (known) return known;
  const asked = get<string>(`/v2/${of}/${key}/xml`);
  asked.catch(() => models.delete(key));
  models.set(key, asked);
  if (models.size > MOST) models.delete(models.keys().next().value!);
  return asked;
}

/** The drawn model: the file, and the id of the process in it. */
export type Drawn = { xml: string; process: string };

/** The model of a version. `known`: a version whose process is known. Raises Problem. */
export async function drawnOf(
  key: string,
  known: Pick<Definition, 'processDefinitionKey' | 'processDefinitionId'>,
): Promise<Drawn> {
  const isKnown = key === known.processDefinitionKey;
  const [xml, of] = await Promise.all([
    modelOf(key),
    isKnown ? known : get<Definition>(`/v2/process-definitions/${key}`),
  ]);
  return { xml, process: of.processDefinitionId };
}
