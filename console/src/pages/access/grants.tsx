// Grants: what a user, client, group, role or mapping rule may do with which resources.
import { useSignal } from '@preact/signals';
import { get, search } from '../../lib/api.ts';
import type { Command } from '../../lib/commands.ts';
import { wordsOf } from '../../lib/commands.ts';
import { t } from '../../lib/i18n.ts';
import { useResource } from '../../lib/resource.ts';
import { put, query } from '../../lib/router.ts';
import type { Grant } from '../../lib/session.ts';
import type { Page } from '../../lib/shapes.ts';
import { ActionDialog, type Checked } from '../../parts/action.tsx';
import { differences } from '../../parts/conflict.tsx';
import { Opening } from '../../parts/opening.tsx';
import { type Column, List, sortOf, Table } from '../../parts/table.tsx';
import { Frame } from './frame.tsx';
import { OWNER_TYPES, pathOf, RESOURCES, TASK_PROPERTIES } from './kinds.ts';

const SIZE = 50;
const PATH = '/v2/authorizations';
/** The fields of the dialog. `property` is for user tasks, instead of an id. */
type Draft = {
  ownerType: string;
  ownerId: string;
  resourceType: string;
  resourceId: string;
  property: string;
  permissions: readonly string[];
};
const draftOf = (grant: Partial<Grant>): Draft => ({
  ownerType: grant.ownerType ?? 'USER',
  ownerId: grant.ownerId ?? '',
  resourceType: grant.resourceType ?? 'PROCESS_DEFINITION',
  resourceId: grant.resourceId ?? (grant.resourcePropertyName ? '' : '*'),
  property: grant.resourcePropertyName ?? '',
  permissions: grant.permissionTypes ?? [],
});

const textsOf = ({ permissions, ...texts }: Draft): Record<string, string> => ({
  ...texts,
  permissions: [...permissions].sort().join(', '),
});

function commandOf(key: string | undefined, { property, permissions, resourceId, ...draft }: Draft): Command {
  const isByProperty = draft.resourceType === 'USER_TASK' && property;
  const body = {
    ...draft,
    ...(isByProperty ? { resourcePropertyName: property } : { resourceId }),
    permissionTypes: permissions,
  };
  return key ? { method: 'PUT', path: pathOf('authorizations', key), body } : { method: 'POST', path: PATH, body };
}

function Choice({
  label,
  value,
  of,
  onChange,
}: {
  label: string;
  value: string;
  of: readonly (readonly [string, string])[];
  onChange: (value: string) => void;
}) {
  return (
    <label class="field">
      {label}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {of.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

function GrantDialog({ grant, onClose }: { grant: Partial<Grant>; onClose: () => void }) {
  const draft = useSignal(draftOf(grant));
  const before = useSignal(textsOf(draft.value)).value;
  const { permissions, resourceType, property } = draft.value;
  const key = grant.authorizationKey;
  const set = (change: Partial<Draft>) => {
    draft.value = { ...draft.value, ...change };
  };
  const toggle = (name: string) =>
    set({
      permissions: permissions.includes(name) ? permissions.filter((each) => each !== name) : [...permissions, name],
    });
  const check = async (): Promise<Checked> => ({
    differences: key
      ? differences(before, textsOf(draftOf(await get<Grant>(pathOf('authorizations', key)))), textsOf(draft.value))
      : [],
  });
  const isTask = resourceType === 'USER_TASK';
  return (
    <ActionDialog
      title={t(key ? 'grant.change' : 'grant.create')}
      button={t(key ? 'save' : 'create')}
      onClose={onClose}
      check={check}
      commands={[commandOf(key, draft.value)]}
      invalid={draft.value.ownerId && permissions.length ? null : t('form.missing')}
    >
      <div class="two">
        <Choice
          label={t('grant.ownerType')}
          value={draft.value.ownerType}
          of={OWNER_TYPES.map((type) => [type, wordsOf(type)])}
          onChange={(ownerType) => set({ ownerType })}
        />
        <label class="field">
          {t('grant.owner')}
          <input
            autofocus
            value={draft.value.ownerId}
            onInput={(event) => set({ ownerId: event.currentTarget.value })}
          />
        </label>
      </div>
      <div class="two">
        <Choice
          label={t('grant.resourceType')}
          value={resourceType}
          of={Object.keys(RESOURCES).map((type) => [type, wordsOf(type)])}
          onChange={(type) => set({ resourceType: type, permissions: [], property: '' })}
        />
        <label class="field">
          {t('grant.resource')}
          <input
            disabled={property !== ''}
            value={draft.value.resourceId}
            onInput={(event) => set({ resourceId: event.currentTarget.value })}
          />
        </label>
      </div>
      {isTask && (
        <Choice
          label={t('grant.property')}
          value={property}
          of={[['', '–'], ...TASK_PROPERTIES.map((name) => [name, name] as const)]}
          onChange={(name) => set({ property: name, resourceId: name ? '' : '*' })}
        />
      )}
      <fieldset class="checks">
        <legend>{t('grant.permissions')}</legend>
        {(RESOURCES[resourceType] ?? permissions).map((name) => (
          <label key={name} class="check">
            <input type="checkbox" checked={permissions.includes(name)} onChange={() => toggle(name)} /> {wordsOf(name)}
          </label>
        ))}
      </fieldset>
    </ActionDialog>
  );
}

function Actions({ grant }: { grant: Grant }) {
  return (
    <span class="row">
      <Opening need={['AUTHORIZATION', 'UPDATE']} text={t('change')}>
        {(close) => <GrantDialog grant={grant} onClose={close} />}
      </Opening>
      <Opening need={['AUTHORIZATION', 'DELETE']} text={t('delete')}>
        {(close) => (
          <ActionDialog
            title={t('grant.delete')}
            button={t('delete')}
            danger
            onClose={close}
            commands={[{ method: 'DELETE', path: pathOf('authorizations', grant.authorizationKey) }]}
          >
            <p>{t('grant.deleteNote', { owner: grant.ownerId })}</p>
          </ActionDialog>
        )}
      </Opening>
    </span>
  );
}

function CreateButton({ grant = {} }: { grant?: Partial<Grant> }) {
  return (
    <Opening need={['AUTHORIZATION', 'CREATE']} class="primary" text={t('grant.create')}>
      {(close) => <GrantDialog grant={grant} onClose={close} />}
    </Opening>
  );
}

const columns = (): Column<Grant>[] => [
  {
    title: t('grant.owner'),
    sort: 'ownerId',
    wide: true,
    cell: (grant) => (
      <>
        <b>{grant.ownerId}</b> <span class="dim">{wordsOf(grant.ownerType)}</span>
      </>
    ),
  },
  { title: t('grant.resourceType'), sort: 'resourceType', cell: (grant) => wordsOf(grant.resourceType) },
  {
    title: t('grant.resource'),
    sort: 'resourceId',
    wide: true,
    cell: (grant) => <code>{grant.resourceId ?? grant.resourcePropertyName}</code>,
  },
  {
    title: t('grant.permissions'),
    wide: true,
    cell: (grant) => grant.permissionTypes.map((one) => wordsOf(one)).join(', '),
  },
  { title: t('actions'), cell: (grant) => <Actions grant={grant} /> },
];

/** The grants of one owner. */
export function GrantsOf({ ownerType, ownerId }: { ownerType: string; ownerId: string }) {
  const body = { filter: { ownerType, ownerId }, page: { limit: SIZE } };
  const found = useResource<Page<Grant>>(
    `grants ${ownerType} ${ownerId}`,
    (abort) => search('authorizations', body, abort),
    ['@access'],
  );
  const grants = found.data.value?.items ?? [];
  return (
    <section aria-label={t('access.authorizations')}>
      <h2>{t('access.authorizations')}</h2>
      {grants.length > 0 ? (
        <Table
          label={t('access.authorizations')}
          items={grants}
          id={(grant) => grant.authorizationKey}
          columns={columns().slice(1)}
        />
      ) : (
        <p class="dim">{t('variables.none')}</p>
      )}
      <div class="row">
        <CreateButton grant={{ ownerType, ownerId }} />
      </div>
    </section>
  );
}

function Found() {
  const { owner, type, after, before, sort } = Object.fromEntries(query.value);
  const order = sortOf(sort ?? null, 'ownerId');
  const body = {
    filter: { ...(owner && { ownerId: owner }), ...(type && { resourceType: type }) },
    sort: [order],
    page: { limit: SIZE, ...(after && { after }), ...(before && { before }) },
  };
  const found = useResource<Page<Grant>>(
    `authorizations${JSON.stringify(body)}`,
    (abort) => search('authorizations', body, abort),
    ['@access'],
  );
  const set = (name: string, value: string) => put({ [name]: value || null, after: null, before: null });
  return (
    <>
      <form class="filters" role="search" aria-label={t('filters')} onSubmit={(event) => event.preventDefault()}>
        <input
          type="search"
          data-search
          placeholder={t('grant.owner')}
          aria-label={t('grant.owner')}
          value={owner ?? ''}
          onChange={(event) => set('owner', event.currentTarget.value)}
        />
        <select
          aria-label={t('grant.resourceType')}
          value={type ?? ''}
          onChange={(event) => set('type', event.currentTarget.value)}
        >
          <option value="">{t('grant.anyType')}</option>
          {Object.keys(RESOURCES).map((name) => (
            <option key={name} value={name}>
              {wordsOf(name)}
            </option>
          ))}
        </select>
      </form>
      <List
        label={t('access.authorizations')}
        count="count.grants"
        found={found}
        columns={columns()}
        id={(grant) => grant.authorizationKey}
        sort={order}
        size={SIZE}
        empty={
          <>
            <p>{t('access.authorizations.note')}</p>
            <CreateButton />
          </>
        }
      />
    </>
  );
}

export function Grants() {
  return (
    <Frame title={t('access.authorizations')} need={['AUTHORIZATION', 'READ']} actions={<CreateButton />}>
      <Found />
    </Frame>
  );
}
