// API tokens: the user's own, with some of the user's roles; and all of them, for those who may give roles.
import { useSignal } from '@preact/signals';
import { get, search } from '../../lib/api.ts';
import { argument, type Command } from '../../lib/commands.ts';
import { t } from '../../lib/i18n.ts';
import { useResource } from '../../lib/resource.ts';
import { query } from '../../lib/router.ts';
import { me, type Need, rightsAsked } from '../../lib/session.ts';
import { lackOf } from '../../parts/act.tsx';
import { ActionDialog } from '../../parts/action.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Opening } from '../../parts/opening.tsx';
import { ProblemBox } from '../../parts/problem.tsx';
import { SearchPage } from '../../parts/search.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Copy, Time } from '../../parts/time.tsx';
import { Frame } from './frame.tsx';
import type { Entry } from './kinds.ts';

type Token = {
  name: string;
  owner: string | null;
  roles: string[];
  tenantIds: string[];
  createdAt: string;
  expiresAt: string | null;
  usedAt: string | null;
};
type Made = { name: string; token: string };
type Draft = { name: string; roles: readonly string[]; days: string; tenants: string };
/** The owner of tokens: where they are, who may change them, and the roles to choose from. */
type Whose = { path: string; need: Need | null; isOwn: boolean; roles: readonly string[] };

const MOST_ROLES = 200;
const OWN = '/v2/authentication/me/tokens';
const ALL = '/v2/tokens';
const DAYS = '90';
const GIVES_ROLES: Need = ['ROLE', 'UPDATE'];
const READS_ROLES: Need = ['ROLE', 'READ'];

function commandOf({ path, isOwn }: Whose, { name, roles, days, tenants }: Draft): Command {
  const tenantIds = tenants
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean);
  const body = { name, roles, ...(days && { lifetimeDays: Number(days) }), ...(tenantIds.length && { tenantIds }) };
  if (isOwn) return { method: 'POST', path, body };
  const options = [
    ...roles.map((role) => `--role ${argument(role)}`),
    ...tenantIds.map((id) => `--tenant ${argument(id)}`),
    ...(days ? [`--expires ${days}d`] : []),
  ];
  return { method: 'POST', path, body, cli: `token create ${argument(name)} ${options.join(' ')}` };
}

function CreateDialog({ whose, onClose, onMade }: { whose: Whose; onClose: () => void; onMade: (made: Made) => void }) {
  const draft = useSignal<Draft>({ name: '', roles: [], days: DAYS, tenants: '' });
  const { name, roles, days, tenants } = draft.value;
  const set = (change: Partial<Draft>) => {
    draft.value = { ...draft.value, ...change };
  };
  const toggle = (role: string) =>
    set({ roles: roles.includes(role) ? roles.filter((each) => each !== role) : [...roles, role] });
  const missing = !name || !roles.length || (whose.isOwn && !days);
  return (
    <ActionDialog
      title={t('access.create', { what: t('token.one') })}
      button={t('create')}
      onClose={onClose}
      onDone={(body) => onMade(body as Made)}
      invalid={missing ? t('form.missing') : null}
      commands={[commandOf(whose, draft.value)]}
    >
      <label class="field">
        {t('field.name')}
        <input autofocus value={name} onInput={(event) => set({ name: event.currentTarget.value })} />
      </label>
      <fieldset class="checks">
        <legend>{t('access.roles')}</legend>
        {whose.roles.map((role) => (
          <label key={role} class="check">
            <input type="checkbox" checked={roles.includes(role)} onChange={() => toggle(role)} /> {role}
          </label>
        ))}
      </fieldset>
      <label class="field">
        {t(whose.isOwn ? 'token.days' : 'token.daysOptional')}
        <input
          type="number"
          min="1"
          max={whose.isOwn ? 366 : 3650}
          value={days}
          onInput={(event) => set({ days: event.currentTarget.value })}
        />
      </label>
      <label class="field">
        {`${t('token.tenants')} (${t('optional')})`}
        <input value={tenants} onInput={(event) => set({ tenants: event.currentTarget.value })} />
      </label>
    </ActionDialog>
  );
}

/** The only time that the secret is seen. It is forgotten when the dialog closes. */
function MadeDialog({ made, onClose }: { made: Made; onClose: () => void }) {
  return (
    <Dialog title={t('token.made', { name: made.name })} onClose={onClose} wide>
      <p>{t('token.once')}</p>
      <div class="command">
        <pre role="group" tabIndex={0} aria-label={t('token.one')}>
          {made.token}
        </pre>
        <Copy text={made.token} label={t('token.one')} />
      </div>
      <footer>
        <button type="button" class="primary" onClick={onClose}>
          {t('close')}
        </button>
      </footer>
    </Dialog>
  );
}

function CreateButton({ whose }: { whose: Whose }) {
  const made = useSignal<Made | null>(null);
  return (
    <>
      <Opening need={whose.need} class="primary" text={t('access.create', { what: t('token.one') })}>
        {(close) => (
          <CreateDialog
            whose={whose}
            onClose={close}
            onMade={(body) => {
              made.value = body;
            }}
          />
        )}
      </Opening>
      {made.value && (
        <MadeDialog
          made={made.value}
          onClose={() => {
            made.value = null;
          }}
        />
      )}
    </>
  );
}

function Revoke({ whose, name }: { whose: Whose; name: string }) {
  const cli = whose.isOwn ? {} : { cli: `token revoke ${argument(name)}` };
  return (
    <Opening need={whose.need} label={`${t('token.revoke')}: ${name}`} text={t('token.revoke')}>
      {(close) => (
        <ActionDialog
          title={t('token.revoke')}
          button={t('token.revoke')}
          danger
          onClose={close}
          commands={[{ method: 'DELETE', path: `${whose.path}/${encodeURIComponent(name)}`, ...cli }]}
        >
          <p>{t('token.revokeNote', { name })}</p>
        </ActionDialog>
      )}
    </Opening>
  );
}

const columnsOf = (whose: Whose): Column<Token>[] => [
  { title: t('field.name'), sort: whose.isOwn ? '' : 'name', wide: true, cell: (token) => <b>{token.name}</b> },
  { title: t('access.roles'), wide: true, cell: (token) => token.roles.join(', ') },
  ...(whose.isOwn
    ? []
    : [{ title: t('token.owner'), sort: 'owner', cell: (token: Token) => token.owner ?? <span class="dim">–</span> }]),
  { title: t('session.since'), sort: whose.isOwn ? '' : 'createdAt', cell: (token) => <Time at={token.createdAt} /> },
  { title: t('session.used'), sort: whose.isOwn ? '' : 'usedAt', cell: (token) => <Time at={token.usedAt} /> },
  { title: t('session.until'), sort: whose.isOwn ? '' : 'expiresAt', cell: (token) => <Time at={token.expiresAt} /> },
  { title: t('actions'), cell: (token) => <Revoke whose={whose} name={token.name} /> },
];

export function OwnTokens() {
  const whose: Whose = { path: OWN, need: null, isOwn: true, roles: me.value?.roles ?? [] };
  const found = useResource(OWN, (abort) => get<{ items: Token[] }>(OWN, abort), ['@access']);
  const items = found.data.value?.items;
  return (
    <section aria-label={t('token.own')}>
      <h2>{t('token.own')}</h2>
      <p class="dim">{t('token.own.note')}</p>
      {found.problem.value && <ProblemBox problem={found.problem.value} retry={found.reload} />}
      {items && !items.length && <p class="dim">{t('token.none')}</p>}
      {items && items.length > 0 && (
        <div class="scroll">
          <Table label={t('token.own')} items={items} id={(token) => token.name} columns={columnsOf(whose)} />
        </div>
      )}
      <p>
        <CreateButton whose={whose} />
      </p>
    </section>
  );
}

/** The page of all tokens. */
export function Tokens() {
  const roles = useResource(
    lackOf(READS_ROLES) || !rightsAsked.value ? '' : 'roles of tokens',
    (abort) => search<Entry>('roles', { page: { limit: MOST_ROLES } }, abort),
    ['@access'],
  ).data.value;
  const whose: Whose = {
    path: ALL,
    need: GIVES_ROLES,
    isOwn: false,
    roles: roles?.items.map((role) => role.roleId!) ?? [],
  };
  const create = <CreateButton whose={whose} />;
  return (
    <Frame title={t('access.tokens')} need={READS_ROLES} actions={create}>
      <SearchPage<Token>
        resource="tokens"
        label={t('access.tokens')}
        count="count.tokens"
        columns={columnsOf(whose)}
        id={(token) => token.name}
        sort="name"
        topics={['@access']}
        empty={t(query.value.get('q') ? 'empty.access' : 'token.none')}
        offer={create}
        states={[]}
        fields={[['q', t('field.name')]]}
        filter={(_, { q }) => (q ? { name: { $like: `*${q}*` } } : {})}
      />
    </Frame>
  );
}
