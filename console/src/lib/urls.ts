// URLs of things with ids. A dot in the last part would be taken for a file, so a slash ends it.
import { href } from './router.ts';
import { me } from './session.ts';

type Values = Record<string, string | number | null>;

const urlBelow = (place: string, id: string, values: Values = {}): string =>
  href(`${place}/${encodeURIComponent(id)}${id.includes('.') ? '/' : ''}`, values);

/** The values of a URL that name a tenant, for a user who has several. */
export const ofTenant = (tenantId: string | null): Values =>
  (me.value?.tenants ?? []).length > 1 ? { tenant: tenantId } : {};

/** A thing with an id, which another one may have in another tenant. `tenantId`: null if it is not known. */
type Placed = (id: string, tenantId: string | null, values?: Values) => string;

export const processUrl: Placed = (id, tenantId, values) =>
  urlBelow('/processes', id, { ...values, ...ofTenant(tenantId) });
export const decisionUrl: Placed = (id, tenantId, values) =>
  urlBelow('/decisions', id, { ...values, ...ofTenant(tenantId) });
/** The versions of a process, or two of them beside each other. */
export const versionsUrl: Placed = (id, tenantId, values) =>
  href(`/processes/${encodeURIComponent(id)}/versions`, { ...values, ...ofTenant(tenantId) });
/** The list of instances of a process. */
export const instancesUrl: Placed = (id, tenantId, values) =>
  href('/instances', { ...values, process: id, ...ofTenant(tenantId) });
/** The figures of a process. */
export const figuresUrl: Placed = (id, tenantId, values) =>
  href('/figures', { ...values, process: id, ...ofTenant(tenantId) });
export const decisionInstanceUrl = (key: string): string => urlBelow('/decision-instances', key);
