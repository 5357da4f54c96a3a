// Jobs: what waits for workers, what they have, what failed.
import { useSignal } from '@preact/signals';
import { search } from '../lib/api.ts';
import { t } from '../lib/i18n.ts';
import { query, withQuery } from '../lib/router.ts';
import { UPDATE_INSTANCE } from '../lib/session.ts';
import type { Job } from '../lib/shapes.ts';
import { Act } from '../parts/act.tsx';
import { ActionDialog } from '../parts/action.tsx';
import { differences } from '../parts/conflict.tsx';
import { Head } from '../parts/head.tsx';
import { Place } from '../parts/place.tsx';
import { SearchPage } from '../parts/search.tsx';
import { State } from '../parts/state.tsx';
import type { Column } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';

async function retriesOf(key: string): Promise<string> {
  return String((await search<Job>('jobs', { filter: { jobKey: key } })).items[0]?.retries ?? '');
}

function Retries({ job }: { job: Job }) {
  const open = useSignal(false);
  const retries = useSignal(3);
  const before = useSignal('');
  if (job.endTime) return <>{job.retries}</>;
  const check = async () => ({
    differences: differences(
      { [t('job.retries')]: before.value },
      { [t('job.retries')]: await retriesOf(job.jobKey) },
      { [t('job.retries')]: String(retries.value) },
    ),
  });
  return (
    <>
      {job.retries}{' '}
      <Act
        need={UPDATE_INSTANCE}
        of={job.processDefinitionId}
        class="link"
        label={`${t('edit')}: ${job.type}`}
        onClick={() => {
          before.value = String(job.retries);
          open.value = true;
        }}
      >
        {t('edit')}
      </Act>
      {open.value && (
        <ActionDialog
          title={t('job.setRetries')}
          button={t('job.setRetries')}
          check={check}
          onClose={() => {
            open.value = false;
          }}
          commands={[
            {
              method: 'PATCH',
              path: `/v2/jobs/${job.jobKey}`,
              body: { changeset: { retries: retries.value } },
              cli: `job update ${job.jobKey} --retries ${retries.value}`,
            },
          ]}
        >
          <label class="field">
            {t('job.retries')}
            <input
              type="number"
              min={1}
              value={retries.value}
              onInput={(event) => {
                retries.value = Math.max(1, event.currentTarget.valueAsNumber || 1);
              }}
            />
          </label>
        </ActionDialog>
      )}
    </>
  );
}

/** Open jobs can be sorted by more than their age: they are few, and the others are the whole history. */
const columns = (open: boolean): Column<Job>[] => [
  {
    title: t('job.type'),
    ...(open && { sort: 'type' }),
    wide: true,
    cell: (job) => (
      <a href={withQuery({ type: job.type, after: null, before: null })}>
        <code>{job.type}</code>
      </a>
    ),
  },
  { title: t('state'), cell: (job) => <State of={job.deadline && job.state === 'CREATED' ? 'LEASED' : job.state} /> },
  { title: t('element'), wide: true, cell: (job) => <Place at={job} ended={job.endTime !== null} /> },
  { title: t('job.retries'), ...(open && { sort: 'retries' }), cell: (job) => <Retries job={job} /> },
  { title: t('job.worker'), has: (job) => !!job.worker, cell: (job) => job.worker || <span class="dim">–</span> },
  {
    title: t('job.until'),
    has: (job) => !!job.deadline,
    ...(open && { sort: 'deadline' }),
    cell: (job) => <Time at={job.endTime ?? job.deadline} />,
  },
  {
    title: t('job.error'),
    wide: true,
    has: (job) => !!job.errorMessage,
    cell: (job) => <span class="cut">{job.errorMessage ?? ''}</span>,
  },
];

const FILTERS: Record<string, Record<string, unknown>> = {
  waiting: { state: 'CREATED', deadline: { $exists: false } },
  leased: { state: 'CREATED', deadline: { $exists: true } },
  failed: { state: 'FAILED' },
  completed: { state: 'COMPLETED' },
  all: {},
};

export function Jobs() {
  return (
    <>
      <Head title={t('nav.jobs')} />
      <SearchPage<Job>
        resource="jobs"
        label={t('nav.jobs')}
        count="count.jobs"
        columns={columns(!['completed', 'all'].includes(query.value.get('state') ?? ''))}
        id={(job) => job.jobKey}
        sort="-jobKey"
        topics={['jobs']}
        empty={t('empty.jobs')}
        states={[
          ['waiting', t('state.created')],
          ['leased', t('state.leased')],
          ['failed', t('state.failed')],
          ['completed', t('state.completed')],
          ['all', t('filter.all')],
        ]}
        fields={[
          ['type', t('job.type')],
          ['worker', t('job.worker')],
          ['process', t('process')],
        ]}
        filter={(state, { type, worker, process }) => ({
          ...FILTERS[state],
          ...(type && { type }),
          ...(worker && { worker }),
          ...(process && { processDefinitionId: process }),
        })}
      />
    </>
  );
}
