// Background jobs: code of the program and of its users that runs on the server. Types with schedules, and executions with attempts.
import { get, send } from '../lib/api.ts';
import { argument, type Command, perform } from '../lib/commands.ts';
import { type Key, number, t } from '../lib/i18n.ts';
import { useResource } from '../lib/resource.ts';
import { query, withQuery } from '../lib/router.ts';
import type { Need } from '../lib/session.ts';
import type { Page, SearchRequest } from '../lib/shapes.ts';
import { Act, Needing } from '../parts/act.tsx';
import { Asking } from '../parts/action.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Head } from '../parts/head.tsx';
import { Opening } from '../parts/opening.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { SearchPage } from '../parts/search.tsx';
import { State } from '../parts/state.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';

type JobType = {
  type: string;
  pending: number;
  running: number;
  failed: number;
  schedule: string | null;
  paused: boolean;
  nodes: number;
};
type Consumer = { type: string; partitionId: number; position: string; behind: number; acknowledged: string };
type Execution = {
  id: string;
  type: string;
  state: 'pending' | 'running' | 'failed';
  attempts: number;
  executeAt: string;
  lastHeartbeat: string | null;
  created: string;
  failed: string | null;
  payload: unknown;
  error: string | null;
  nodeId: string | null;
  schedule: string | null;
  partitionId: number | null;
  uniqueKey: string | null;
};

const CHANGE: Need = ['SYSTEM', 'UPDATE'];

/** A page of executions. The server takes the number of rows before it, and no cursor. */
async function load(body: SearchRequest, abort: AbortSignal): Promise<Page<Execution>> {
  const { limit = 0, after, before } = body.page ?? {};
  const from = Number(after ?? before ?? 0);
  const request = { filter: body.filter ?? {}, page: { from, limit } };
  const { items, page } = (
    await send<Page<Execution>>({ method: 'POST', path: '/background-jobs/search', body: request }, abort)
  ).body;
  return {
    items,
    page: {
      ...page,
      hasMoreTotalItems: false,
      startCursor: from > 0 ? String(Math.max(0, from - limit)) : null,
      endCursor: from + items.length < page.totalItems ? String(from + limit) : null,
    },
  };
}

function Types({ items }: { items: JobType[] }) {
  const counted = (type: string, state: string, n: number) =>
    n ? <a href={withQuery({ type, state, after: null })}>{number(n)}</a> : '0';
  const pause = ({ type, paused }: JobType): Command => ({
    method: paused ? 'DELETE' : 'PUT',
    path: `/background-job-types/${encodeURIComponent(type)}/pause`,
    cli: `background ${paused ? 'resume' : 'pause'} ${argument(type)}`,
  });
  const columns: Column<JobType>[] = [
    {
      title: t('job.type'),
      wide: true,
      cell: (one) => (
        <>
          <a href={withQuery({ type: one.type, state: null, after: null })}>
            <code>{one.type}</code>
          </a>{' '}
          {one.paused && <State of="SUSPENDED" />}
        </>
      ),
    },
    { title: t('background.schedule'), cell: (one) => one.schedule ?? <span class="dim">–</span> },
    { title: t('state.pending'), cell: (one) => counted(one.type, 'pending', one.pending) },
    { title: t('background.running'), cell: (one) => counted(one.type, 'running', one.running) },
    { title: t('state.failed'), cell: (one) => counted(one.type, 'failed', one.failed) },
    { title: t('system.nodes'), cell: (one) => one.nodes },
    {
      title: t('actions'),
      cell: (one) => {
        const text = t(one.paused ? 'batch.resume' : 'batch.suspend');
        return (
          <Act need={CHANGE} class="link" label={`${text}: ${one.type}`} onClick={() => void perform(text, pause(one))}>
            {text}
          </Act>
        );
      },
    },
  ];
  return <Table label={t('background.types')} items={items} id={(one) => one.type} columns={columns} />;
}

/** Everything about an execution: its payload, and the traceback of its last attempt with its lines. */
function Details({ of: one, onClose }: { of: Execution; onClose: () => void }) {
  return (
    <Dialog title={one.type} onClose={onClose} wide>
      <dl>
        <dt>{t('key')}</dt>
        <dd>
          <code>{one.id}</code>
        </dd>
        <dt>{t('background.attempts')}</dt>
        <dd>{one.attempts}</dd>
        <dt>{t('started')}</dt>
        <dd>
          <Time at={one.created} />
        </dd>
        {one.nodeId && (
          <>
            <dt>{t('system.node')}</dt>
            <dd>
              {one.nodeId} {one.lastHeartbeat && <Time at={one.lastHeartbeat} />}
            </dd>
          </>
        )}
        {one.uniqueKey && (
          <>
            <dt>{t('background.uniqueKey')}</dt>
            <dd>{one.uniqueKey}</dd>
          </>
        )}
      </dl>
      <h3>{t('background.payload')}</h3>
      <pre class="json" tabIndex={0}>
        {JSON.stringify(one.payload, null, 2)}
      </pre>
      {one.error && (
        <>
          <h3>{t('background.error')}</h3>
          <pre class="json" tabIndex={0}>
            {one.error}
          </pre>
        </>
      )}
    </Dialog>
  );
}

const OFFERED: Record<Execution['state'], [action: string, text: Key]> = {
  pending: ['run', 'background.run'],
  running: ['cancel', 'background.cancel'],
  failed: ['retry', 'incident.retry'],
};

function Actions({ of: one }: { of: Execution }) {
  const [action, text] = OFFERED[one.state];
  const isOwn = one.schedule !== null || one.partitionId !== null; // of a schedule or a consumer: it is neither cancelled nor deleted
  const command: Command = {
    method: 'POST',
    path: `/background-jobs/${one.id}/${action}`,
    cli: `background ${action} ${one.id}`,
  };
  return (
    <>
      {!(one.state === 'running' && isOwn) && (
        <Act need={CHANGE} class="link" onClick={() => void perform(t(text), command)}>
          {t(text)}
        </Act>
      )}{' '}
      {!isOwn && one.state !== 'running' && (
        <Asking
          need={CHANGE}
          title={t('delete')}
          note={t('background.deleteNote', { type: one.type })}
          command={{ method: 'DELETE', path: `/background-jobs/${one.id}`, cli: `background delete ${one.id}` }}
        />
      )}
    </>
  );
}

const columns = (): Column<Execution>[] => [
  {
    title: t('job.type'),
    wide: true,
    cell: (one) => (
      <Opening need={null} text={one.type}>
        {(close) => <Details of={one} onClose={close} />}
      </Opening>
    ),
  },
  { title: t('state'), cell: (one) => <State of={one.state === 'running' ? 'LEASED' : one.state.toUpperCase()} /> },
  { title: t('background.attempts'), cell: (one) => one.attempts },
  { title: t('background.due'), cell: (one) => <Time at={one.failed ?? one.executeAt} /> },
  { title: t('system.node'), cell: (one) => one.nodeId ?? <span class="dim">–</span> },
  {
    title: t('job.error'),
    wide: true,
    has: (one) => !!one.error,
    cell: (one) => <span class="cut">{one.error?.trim().split('\n').at(-1)}</span>,
  },
  { title: t('actions'), cell: (one) => <Actions of={one} /> },
];

function Consumers({ items }: { items: Consumer[] }) {
  return (
    <Table
      label={t('background.consumers')}
      items={items}
      id={(one) => `${one.type} ${one.partitionId}`}
      columns={[
        { title: t('job.type'), wide: true, cell: (one) => <code>{one.type}</code> },
        { title: t('system.partition'), cell: (one) => one.partitionId },
        { title: t('background.behind'), cell: (one) => number(one.behind) },
        { title: t('background.acknowledged'), cell: (one) => <Time at={one.acknowledged} /> },
      ]}
    />
  );
}

type Overview = { types: JobType[]; consumers: Consumer[] };

const CHORES = 'chore';

/** The jobs of users, or with `?kind=chore` the program's own chores. */
const kind = () => (query.value.get('kind') === CHORES ? CHORES : 'user');

async function overview(abort: AbortSignal): Promise<Overview> {
  const [types, consumers] = await Promise.all([
    get<{ items: JobType[] }>(`/background-job-types?kind=${kind()}`, abort),
    get<{ items: Consumer[] }>('/background-job-consumers', abort),
  ]);
  return { types: types.items, consumers: consumers.items };
}

export const BackgroundJobs = () => (
  <>
    <Head title={t('background.title')} />
    <Needing need={['SYSTEM', 'READ']}>
      <Jobs />
    </Needing>
  </>
);

function Jobs() {
  const isOfUsers = kind() !== CHORES;
  const found = useResource(`background jobs: ${kind()}`, overview, ['system']);
  const data = found.data.value;
  return (
    <>
      {found.problem.value && <ProblemBox problem={found.problem.value} retry={found.reload} />}
      <section class="results stack">
        <h2>{t('background.types')}</h2>
        <p>
          <a href={withQuery({ kind: isOfUsers ? CHORES : null, type: null, state: null, after: null })}>
            {t(isOfUsers ? 'background.chores' : 'background.own')}
          </a>
        </p>
        {data?.types.length === 0 && <p class="dim">{t('background.none')}</p>}
        {data && data.types.length > 0 && <Types items={data.types} />}
        {data && data.consumers.length > 0 && (
          <>
            <h2>{t('background.consumers')}</h2>
            <Consumers items={data.consumers} />
          </>
        )}
        <h2>{t('background.executions')}</h2>
      </section>
      <SearchPage<Execution>
        resource="background-jobs"
        label={t('background.executions')}
        count="count.executions"
        columns={columns()}
        id={(one) => one.id}
        sort="type"
        topics={['system']}
        empty={t('background.empty')}
        way={['/system', 'nav.system']}
        states={[
          ['all', t('filter.all')],
          ['pending', t('state.pending')],
          ['running', t('state.leased')],
          ['failed', t('state.failed')],
        ]}
        fields={[['type', t('job.type')]]}
        filter={(state, { type }) => ({
          ...(state !== 'all' && { state }),
          ...(type ? { type } : { kind: kind() }),
        })}
        load={load}
      />
    </>
  );
}
