// Batch operations: their progress, and what happened to each item.
import { useEffect } from 'preact/hooks';
import { get, ifAllowed, search } from '../lib/api.ts';
import { ended, isOpen, UPDATE_BATCH } from '../lib/batches.ts';
import { type Command, perform, wordsOf } from '../lib/commands.ts';
import { type Key, number, t } from '../lib/i18n.ts';
import { following } from '../lib/live.ts';
import { useResource } from '../lib/resource.ts';
import { href } from '../lib/router.ts';
import type { Batch, BatchItem, Instance, Page, SearchRequest } from '../lib/shapes.ts';
import { Act } from '../parts/act.tsx';
import { Asking } from '../parts/action.tsx';
import { CopyCommands } from '../parts/copy_commands.tsx';
import { Head } from '../parts/head.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { SearchPage } from '../parts/search.tsx';
import { State } from '../parts/state.tsx';
import type { Column } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';

const TOPIC = ['@batches'];
const READ_MS = 1000;

const KINDS: Record<string, Key> = {
  CANCEL_PROCESS_INSTANCE: 'batch.cancel',
  DELETE_PROCESS_INSTANCE: 'batch.delete',
  DELETE_DECISION_INSTANCE: 'batch.deleteDecisions',
  RESOLVE_INCIDENT: 'batch.retry',
  SUSPEND_PROCESS_INSTANCE: 'batch.suspendInstances',
  RESUME_PROCESS_INSTANCE: 'batch.resumeInstances',
  MIGRATE_PROCESS_INSTANCE: 'batch.migrateInstances',
  MODIFY_PROCESS_INSTANCE: 'batch.modifyInstances',
  UPDATE_JOB: 'batch.updateJobs',
};
/** The work of a batch, in words. Types of a later server keep their names. */
export const kindOf = (type: string): string => (KINDS[type] ? t(KINDS[type]) : wordsOf(type));

function Progress({ batch }: { batch: Batch }) {
  const total = batch.operationsTotalCount;
  const done = ended(batch);
  const label = t('batch.progress', { done: number(done), total: number(total) });
  return (
    <span class="row">
      <progress
        aria-label={label}
        {...(batch.state !== 'CREATED' && { max: Math.max(total, 1), value: total ? done : 1 })}
      />
      <span class="number">{label}</span>
    </span>
  );
}

const COUNTS: readonly [Key, keyof Batch][] = [
  ['state.completed', 'operationsCompletedCount'],
  ['state.failed', 'operationsFailedCount'],
  ['batch.skipped', 'operationsSkippedCount'],
  ['batch.left', 'operationsCanceledCount'],
];

const Counts = ({ batch }: { batch: Batch }) => (
  <>
    {COUNTS.filter(([, field]) => batch[field]).map(([text, field]) => (
      <span key={field} class={field === 'operationsFailedCount' ? 'tag bad' : 'tag'}>
        {t(text)} {number(batch[field] as number)}
      </span>
    ))}
  </>
);

const columns = (): Column<Batch>[] => [
  {
    title: t('batch.kind'),
    wide: true,
    cell: (batch) => (
      <a data-row href={href(`/batches/${batch.batchOperationKey}`)}>
        {kindOf(batch.batchOperationType)}{' '}
        <small>
          <code>{batch.batchOperationKey}</code>
        </small>
      </a>
    ),
  },
  { title: t('state'), sort: 'state', cell: (batch) => <State of={batch.state} /> },
  { title: t('batch.items'), cell: (batch) => <Progress batch={batch} /> },
  { title: t('batch.outcome'), wide: true, cell: (batch) => <Counts batch={batch} /> },
  { title: t('batch.by'), sort: 'actorId', has: (batch) => !!batch.actorId, cell: (batch) => batch.actorId ?? '' },
  { title: t('started'), sort: 'startDate', cell: (batch) => <Time at={batch.startDate} /> },
  { title: t('ended'), sort: 'endDate', cell: (batch) => <Time at={batch.endDate} /> },
];

export function Batches() {
  return (
    <>
      <Head title={t('nav.batches')} />
      <SearchPage<Batch>
        resource="batch-operations"
        label={t('nav.batches')}
        count="count.batches"
        columns={columns()}
        id={(batch) => batch.batchOperationKey}
        sort="-batchOperationKey"
        topics={[...TOPIC, 'instances']}
        empty={t('empty.batches')}
        way={['/instances', 'nav.instances']}
        states={[
          ['all', t('filter.all')],
          ['ACTIVE', t('state.active')],
          ['SUSPENDED', t('state.suspended')],
          ['COMPLETED', t('state.completed')],
          ['PARTIALLY_COMPLETED', t('state.partial')],
          ['FAILED', t('state.failed')],
          ['CANCELED', t('state.terminated')],
        ]}
        fields={[['by', t('batch.by')]]}
        filter={(state, { by }) => ({ ...(state !== 'all' && { state }), ...(by && { actorId: by }) })}
      />
    </>
  );
}

type Item = BatchItem & { businessId?: string | null };

/** A page of items, each with the business id of its instance, unless the instance is gone or the user may not read it. */
async function itemsOf(body: SearchRequest, abort: AbortSignal): Promise<Page<Item>> {
  const page = await search<BatchItem>('batch-operation-items', body, abort);
  const keys = [...new Set(page.items.flatMap((item) => item.processInstanceKey ?? []))];
  if (!keys.length) return page;
  const asked = { filter: { processInstanceKey: { $in: keys } }, page: { limit: keys.length } };
  const found = await ifAllowed(search<Instance>('process-instances', asked, abort));
  const ids = new Map(found?.items.map((one) => [one.processInstanceKey, one.businessId]));
  return {
    ...page,
    items: page.items.map((item) => ({ ...item, businessId: ids.get(item.processInstanceKey ?? '') })),
  };
}

const itemColumns = (): Column<Item>[] => [
  {
    title: t('instance'),
    sort: 'processInstanceKey',
    cell: ({ itemKey, processInstanceKey: key, businessId }) => (
      <a data-row href={key ? href(`/instances/${key}`) : undefined}>
        {businessId}{' '}
        <small>
          <code>{key ?? itemKey}</code>
        </small>
      </a>
    ),
  },
  { title: t('state'), sort: 'state', cell: (item) => <State of={item.state} /> },
  { title: t('ended'), sort: 'processedDate', cell: (item) => <Time at={item.processedDate} /> },
  {
    title: t('job.error'),
    wide: true,
    has: (item) => !!item.errorMessage,
    cell: (item) => <span class="cut">{item.errorMessage ?? ''}</span>,
  },
];

const change = ({ batchOperationKey: key }: Batch, name: string, cli: string): Command => ({
  method: 'POST',
  path: `/v2/batch-operations/${key}/${name}`,
  cli: `batches ${cli} ${key}`,
});

/** Pause a batch that goes on, or let a paused one go on. */
const pauseOf = (batch: Batch): [Command, Key] =>
  batch.state === 'SUSPENDED'
    ? [change(batch, 'resumption', 'resume'), 'batch.resume']
    : [change(batch, 'suspension', 'suspend'), 'batch.suspend'];

function Actions({ batch }: { batch: Batch }) {
  if (!isOpen(batch)) return null;
  const [command, label] = pauseOf(batch);
  return (
    <>
      <Act
        need={UPDATE_BATCH}
        {...(batch.state === 'SUSPENDED' && { class: 'primary' })}
        onClick={() => void perform(t(label), command)}
      >
        {t(label)}
      </Act>
      <Asking
        need={UPDATE_BATCH}
        title={t('batch.cancelRest')}
        note={t('batch.cancelRestNote')}
        command={change(batch, 'cancellation', 'cancel')}
      />
    </>
  );
}

/** Read an open batch again each second: its rows change without a hint. */
function useProgress(batch: Batch | undefined, read: () => void): void {
  const open = batch !== undefined && isOpen(batch) && batch.state !== 'SUSPENDED' && following.value;
  useEffect(() => {
    if (!open) return;
    const timer = setInterval(read, READ_MS);
    return () => clearInterval(timer);
  }, [open]);
}

export function BatchPage({ id }: { id: string }) {
  const found = useResource<Batch>(
    `batch ${id}`,
    (abort) => get(`/v2/batch-operations/${encodeURIComponent(id)}`, abort),
    TOPIC,
  );
  const batch = found.data.value;
  useProgress(batch, found.reload);
  return (
    <>
      <Head
        title={
          <>
            {batch ? kindOf(batch.batchOperationType) : t('nav.batches')} {batch && <State of={batch.state} />}
          </>
        }
        crumbs={<a href={href('/batches')}>{t('nav.batches')}</a>}
        actions={batch && <Actions batch={batch} />}
      />
      {found.problem.value && (
        <ProblemBox problem={found.problem.value} retry={found.reload} of={['/batches', 'nav.batches']} />
      )}
      {batch && (
        <div class="stack pad" role="status">
          <p class="row">
            <Progress batch={batch} /> <Counts batch={batch} />
          </p>
          {isOpen(batch) && <CopyCommands commands={[pauseOf(batch)[0]]} label={t(pauseOf(batch)[1])} />}
          {batch.errors.map((error) => (
            <p key={error.message} class="invalid">
              {error.message}
            </p>
          ))}
        </div>
      )}
      {batch && (
        <SearchPage<Item>
          key={`${ended(batch)}`}
          resource="batch-operation-items"
          load={itemsOf}
          label={t('batch.items')}
          count="count.items"
          columns={itemColumns()}
          id={(item) => item.itemKey}
          sort="processInstanceKey"
          topics={TOPIC}
          empty={t('empty.items')}
          way={['/batches', 'nav.batches']}
          states={[
            ['all', t('filter.all')],
            ['ACTIVE', t('state.active')],
            ['COMPLETED', t('state.completed')],
            ['SKIPPED', t('batch.skipped')],
            ['FAILED', t('state.failed')],
            ['CANCELED', t('batch.left')],
          ]}
          fields={[['instance', t('instance')]]}
          filter={(state, { instance }) => ({
            batchOperationKey: id,
            ...(state !== 'all' && { state }),
            ...(instance && { processInstanceKey: instance }),
          })}
        />
      )}
    </>
  );
}
