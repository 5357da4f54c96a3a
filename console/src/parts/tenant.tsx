// The tenant that a new thing belongs to: asked for if there is a choice.
import { computed } from '@preact/signals';
import { t } from '../lib/i18n.ts';
import { me } from '../lib/session.ts';

/** The tenants of the user. There is one, `<default>`, without multi-tenancy. */
export const tenants = computed(() => me.value?.tenants ?? []);
const DEFAULT = '<default>';
export const firstTenant = (): string => tenants.value[0]?.tenantId ?? DEFAULT;

/** The member of a request that names the tenant; nothing for the one that needs no name. */
export const tenantOf = (tenantId: string): { tenantId?: string } => (tenantId === DEFAULT ? {} : { tenantId });

export function TenantChoice({ value, onChange }: { value: string; onChange: (tenantId: string) => void }) {
  if (tenants.value.length < 2) return null;
  return (
    <label class="field">
      {t('tenant')}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {tenants.value.map(({ tenantId, name }) => (
          <option key={tenantId} value={tenantId}>
            {name ?? tenantId}
          </option>
        ))}
      </select>
    </label>
  );
}
