// URLs of things with ids. A dot in the last part would be taken for a file, so a slash ends it.
import { href } from './router.ts';
import { me } from './session.ts';

type Values = Record<string, string | number | null>;

const urlBelow =
  (place: string) =>
  (id: string, values: Values = {}): string =>
    href(`${place}/${encodeURIComponent(id)}${id.includes('.') ? '/' : ''}`, values);

/** The values of a URL that name a tenant, for a user who has several. */
export const ofTenant = (tenantId: string): Values =>
  (me.value?.tenants ?? []).length > 1 ? { tenant: tenantId } : {};

export const processUrl = urlBelow('/processes');
/** The versions of a process, or two of them beside each other. */
export const versionsUrl = (id: string, values: Values = {}): string =>
  href(`/processes/${encodeURIComponent(id)}/versions`, values);
export const decisionUrl = urlBelow('/decisions');
export const decisionInstanceUrl = urlBelow('/decision-instances');
