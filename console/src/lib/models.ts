// The XML of process definitions. It never changes, so it is read once.
import { get } from './api.ts';

const MOST = 20;
const models = new Map<string, Promise<string>>();

/** The XML of a definition, by its key. Raises Problem. */
export function modelOf(key: string): Promise<string> {
  const known = models.get(key);
  if (known) return known;
  const asked = get<string>(`/v2/process-definitions/${key}/xml`);
  asked.catch(() => models.delete(key));
  models.set(key, asked);
  if (models.size > MOST) models.delete(models.keys().next().value!);
  return asked;
}
