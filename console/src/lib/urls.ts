// URLs of things with ids. A dot in the last part would be taken for a file, so a slash ends it.
import { href } from './router.ts';

export function processUrl(id: string, values: Record<string, string | number | null> = {}): string {
  return href(`/processes/${encodeURIComponent(id)}${id.includes('.') ? '/' : ''}`, values);
}
