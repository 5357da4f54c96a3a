// The versions of a process, asked for while the chunk of its page is on its way; and the version that a URL names.
import { search } from './api.ts';
import { modelOf } from './models.ts';
import { ask } from './resource.ts';
import { query } from './router.ts';
import type { Definition, Page, Versioned } from './shapes.ts';

/** All versions, the newest first. */
export const versionsOf = (id: string, abort?: AbortSignal): Promise<Page<Definition>> =>
  search<Definition>(
    'process-definitions',
    { filter: { processDefinitionId: id }, sort: [{ field: 'version', order: 'DESC' }], page: { limit: 1000 } },
    abort,
  );

/** The version of a process or of a decision that the URL names, else the newest. Tenants may have the same ids and numbers. */
export function chosen<T extends Versioned>(versions: readonly T[]): T | undefined {
  const [wanted, tenant] = [query.value.get('version'), query.value.get('tenant')];
  const known = versions.filter((one) => tenant === null || one.tenantId === tenant);
  return known.find((one) => String(one.version) === wanted) ?? known[0];
}

/** Ask for the resource `versions …` of the page, and for the model of the version that it shows. */
export function askForProcess(id: string): void {
  const asked = versionsOf(id);
  asked
    .then(({ items }) => {
      const one = chosen(items);
      return one && modelOf(one.processDefinitionKey);
    })
    .catch(() => {}); // the page tells what is wrong
  ask(`versions ${id}`, asked);
}
