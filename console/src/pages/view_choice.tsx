// The choice among the saved views of a list, one's own and shared ones, and saving what the list shows.
import { useSignal } from '@preact/signals';
import { type Command, perform } from '../lib/commands.ts';
import { t } from '../lib/i18n.ts';
import { useGrowing } from '../lib/pages.ts';
import { href, query, type Values } from '../lib/router.ts';
import { may, UPDATE_INSTANCE, UPDATE_TASK } from '../lib/session.ts';
import { ActionDialog } from '../parts/action.tsx';
import { Check } from '../parts/check.tsx';
import { Field } from '../parts/field.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { Rest } from '../parts/rest.tsx';
import { firstTenant, TenantChoice, tenantOf, tenants } from '../parts/tenant.tsx';

const SIZE = 100;
const LISTS = {
  'process-instances': { path: '/instances', share: UPDATE_INSTANCE },
  'user-tasks': { path: '/tasks', share: UPDATE_TASK },
} as const;

/** `isOwn`: somebody else may have the same name at another identity provider. */
type SavedView = {
  savedViewKey: string;
  name: string;
  query: string;
  isShared: boolean;
  isOwn: boolean;
  owner: string;
  tenantId: string;
};
type ChoiceProps = { resource: keyof typeof LISTS; more: Values };

/** The address of a view. Somebody else may have written the query, so it can only be one of this list. */
const urlOf = (resource: keyof typeof LISTS, of: string): string =>
  href(LISTS[resource].path, Object.fromEntries(new URLSearchParams(of)));

export function ViewChoice({ resource, more }: ChoiceProps) {
  const { path, share } = LISTS[resource];
  const [name, tenant] = [useSignal(''), useSignal(firstTenant())];
  const [shared, busy] = [useSignal(false), useSignal(false)];
  const going = useSignal<SavedView | null>(null);
  const found = useGrowing<SavedView>('saved-views', { resource }, [{ field: 'name', order: 'ASC' }], SIZE, []);
  const page = found.data.value;
  const { after: _after, before: _before, ...values } = Object.fromEntries(query.value);
  const shown = href(path, { ...more, ...values });
  const isNew = !page?.items.some(
    (view) => view.isOwn && view.tenantId === tenant.value && view.name === name.value.trim(),
  );
  const command: Command = {
    method: 'POST',
    path: '/v2/saved-views',
    body: {
      resource,
      name: name.value.trim(),
      query: shown.slice(shown.indexOf('?') + 1 || shown.length),
      isShared: shared.value,
      ...tenantOf(tenant.value),
    },
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    busy.value = true;
    if (await perform(t('views.save'), command)) {
      name.value = '';
      found.reload();
    }
    busy.value = false;
  };
  return (
    <div class="sheet">
      {found.problem.value && <ProblemBox problem={found.problem.value} retry={found.reload} />}
      {page && !page.items.length && <p class="dim">{t('views.none')}</p>}
      <ul class="views">
        {page?.items.map((view) => (
          <li key={view.savedViewKey} class="row spread">
            <a
              href={urlOf(resource, view.query)}
              dir="auto"
              aria-current={urlOf(resource, view.query) === shown ? 'true' : undefined}
            >
              {view.name}
            </a>
            <span class="row">
              {view.isShared && <span class="dim">{view.isOwn ? t('views.shared') : view.owner}</span>}
              {tenants.value.length > 1 && <span class="dim">{view.tenantId}</span>}
              {(view.isOwn || may(share, '*')) && (
                <button
                  type="button"
                  class="quiet"
                  aria-label={t('views.delete', { name: view.name })}
                  onClick={() => {
                    going.value = view;
                  }}
                >
                  ×
                </button>
              )}
            </span>
          </li>
        ))}
      </ul>
      <Rest count="count.views" page={page} steps={found} />
      <form class="stack" onSubmit={submit}>
        <Field label={t('views.name')} value={name} maxLength={100} />
        <TenantChoice
          value={tenant.value}
          onChange={(to) => {
            tenant.value = to;
          }}
        />
        {may(share, '*') && <Check value={shared}>{t('views.share')}</Check>}
        <button type="submit" disabled={busy.value || !name.value.trim()}>
          {t(isNew ? 'views.save' : 'views.replace')}
        </button>
      </form>
      {going.value && (
        <ActionDialog
          title={t('views.delete', { name: going.value.name })}
          button={t('definition.delete')}
          danger
          onClose={() => {
            going.value = null;
          }}
          onDone={found.reload}
          commands={[{ method: 'DELETE', path: `/v2/saved-views/${going.value.savedViewKey}` }]}
        >
          {going.value.isShared && <p>{t('views.deleteNote')}</p>}
        </ActionDialog>
      )}
    </div>
  );
}
