// Home: what needs me.
import type { ComponentChildren } from 'preact';
import { ifAllowed, search } from '../lib/api.ts';
import { causesOf, type Running, runningInAll } from '../lib/counts.ts';
import { type Group, grouped, kindOf } from '../lib/groups.ts';
import { type Key, number, t, total } from '../lib/i18n.ts';
import { useResource } from '../lib/resource.ts';
import { href } from '../lib/router.ts';
import type { CauseCount, Instance, Job, Page, Timer, UserTask } from '../lib/shapes.ts';
import { ago } from '../lib/time.ts';
import { Head } from '../parts/head.tsx';
import { Held } from '../parts/held.tsx';
import { Opened } from '../parts/lazy.tsx';
import { Place } from '../parts/place.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { State } from '../parts/state.tsx';
import { Time } from '../parts/time.tsx';

const SHOWN = 6;
/** Null: the user may not see it. */
type Found = {
  running: Running | null;
  causes: CauseCount[] | null;
  tasks: Page<UserTask> | null;
  jobs: Page<Job> | null;
  oldest: Page<Instance> | null;
  ended: Page<Instance> | null;
  timers: Page<Timer> | null;
};

async function load(abort: AbortSignal): Promise<Found> {
  const first = <T,>(resource: string, state: unknown, field: string, order: 'ASC' | 'DESC' = 'ASC') =>
    ifAllowed(search<T>(resource, { filter: { state }, sort: [{ field, order }], page: { limit: SHOWN } }, abort));
  const [oldest, ended, running, tasks, jobs, timers, causes] = await Promise.all([
    first<Instance>('process-instances', { $in: ['ACTIVE', 'SUSPENDED'] }, 'startDate'),
    first<Instance>('process-instances', { $in: ['COMPLETED', 'TERMINATED'] }, 'endDate', 'DESC'),
    ifAllowed(runningInAll(abort)),
    first<UserTask>('user-tasks', 'CREATED', 'creationDate'),
    ifAllowed(search<Job>('jobs', { filter: { state: 'CREATED' }, page: { limit: 1 } }, abort)),
    first<Timer>('timers', 'PENDING', 'dueDate'),
    ifAllowed(causesOf(200, abort)),
  ]);
  return { running, causes, tasks, jobs, oldest, ended, timers };
}

function Figure({ to, label, n, bad = false }: { to: string; label: string; n: string; bad?: boolean }) {
  return (
    <a class={bad ? 'figure bad' : 'figure'} href={to}>
      <b>{n}</b>
      <span>{label}</span>
    </a>
  );
}

const days = async () => (await import('./days.tsx')).Days;

/** For an engine in which nothing has ever run. */
const FirstSteps = () => (
  <section class="first">
    <h2>{t('first.title')}</h2>
    <ol class="numbered">
      <li>
        <a href={href('/deploy')}>{t('first.deploy')}</a>
      </li>
      <li>
        <a href={href('/processes')}>{t('first.start')}</a>
      </li>
      <li>
        <a href={href('/tasks')}>{t('first.work')}</a>
      </li>
    </ol>
    <p class="dim">{t('first.demo')}</p>
  </section>
);

const isNew = ({ running, oldest, ended }: Found): boolean =>
  running !== null && !running.suspended && oldest?.items.length === 0 && ended?.items.length === 0;

type BlockProps<T> = {
  title: Key;
  empty: Key;
  items: readonly T[];
  id: (item: T) => string | number;
  children: (item: T) => ComponentChildren;
};

/** A short table without a head. `children`: the cells of a row. */
function Block<T>({ title, empty, items, id, children }: BlockProps<T>) {
  return (
    <section>
      <h2>{t(title)}</h2>
      {items.length ? (
        <table class="list" aria-label={t(title)}>
          <tbody>
            {items.map((item) => (
              <tr key={id(item)}>{children(item)}</tr>
            ))}
          </tbody>
        </table>
      ) : (
        <p class="dim">{t(empty)}</p>
      )}
    </section>
  );
}

function Cause({ group: { total, message, places } }: { group: Group }) {
  const first = places[0]!;
  const headline = message.split('\n').at(/^Traceback/.test(message) ? -1 : 0); // of Python, the last line says most
  const only = total === 1 && href(`/instances/${first.processInstanceKey}`, { element: first.elementId });
  return (
    <>
      <td class="number bad">
        <b>{number(total)}</b>
      </td>
      <td class="about">
        <a data-row href={only || href('/incidents')}>
          {headline || kindOf(first.errorType)}
        </a>
        <small>
          {kindOf(first.errorType)}
          {places.length === 1 && ` · ${first.processDefinitionId} / ${first.elementId}`}
        </small>
      </td>
    </>
  );
}

const Task = ({ task }: { task: UserTask }) => (
  <>
    <td class="wide">
      <a data-row href={href(`/tasks/${task.userTaskKey}`)}>
        {task.name ?? task.elementId}
      </a>{' '}
      <Held of={task.processInstanceKey} />
    </td>
    <td class="dim">
      {task.processName ?? task.processDefinitionId}
      {task.businessId && ` · ${task.businessId}`}
    </td>
    <td>{task.assignee ?? <span class="dim">{t('task.unassigned')}</span>}</td>
    <td class="number">{ago(task.creationDate)}</td>
  </>
);

const Row = ({ instance: i }: { instance: Instance }) => (
  <>
    <td class="wide">
      <a data-row href={href(`/instances/${i.processInstanceKey}`)}>
        {i.businessId ?? <code>{i.processInstanceKey}</code>}
      </a>
    </td>
    <td class="dim">{i.processDefinitionName ?? i.processDefinitionId}</td>
    <td>
      <State of={i.state} incident={i.hasIncident} />
    </td>
    <td class="number">{ago(i.endDate ?? i.startDate)}</td>
  </>
);

const Due = ({ timer }: { timer: Timer }) => (
  <>
    <td>
      <Time at={timer.dueDate} />
    </td>
    <td class="wide">
      <Place at={timer} />
    </td>
  </>
);

export function Home() {
  const found = useResource('home', load, ['instances', 'incidents', 'tasks', 'timers']);
  const data = found.data.value;
  return (
    <>
      <Head
        title={t('nav.home')}
        actions={
          <a class="button" href={href('/deploy')}>
            {t('nav.deploy')} …
          </a>
        }
      />
      {found.problem.value && <ProblemBox problem={found.problem.value} retry={found.reload} />}
      {!data && !found.problem.value && <p class="dim loading">{t('loading')}</p>}
      {data && Object.values(data).every((part) => part === null) && (
        <div class="empty">
          <p>{t('empty.rights')}</p>
        </div>
      )}
      {data && (
        <div class="home">
          <div class="figures">
            {data.running && (
              <>
                <Figure to={href('/instances')} label={t('home.active')} n={number(data.running.active)} />
                <Figure
                  to={href('/instances', { state: 'incidents' })}
                  label={t('home.stuck')}
                  n={number(data.running.incidents)}
                  bad={data.running.incidents > 0}
                />
                {data.running.suspended > 0 && (
                  <Figure
                    to={href('/instances', { state: 'suspended' })}
                    label={t('home.suspended')}
                    n={number(data.running.suspended)}
                  />
                )}
              </>
            )}
            {data.tasks && <Figure to={href('/tasks')} label={t('home.task')} n={total(data.tasks.page)} />}
            {data.jobs && <Figure to={href('/jobs')} label={t('home.jobs')} n={total(data.jobs.page)} />}
          </div>
          {isNew(data) ? <FirstSteps /> : <Opened load={days} props={{ days: 14 }} />}
          {data.causes && (
            <Block
              title="home.incidents"
              empty="empty.incidents"
              items={grouped(data.causes).slice(0, SHOWN)}
              id={({ cause }) => cause}
            >
              {(group) => <Cause group={group} />}
            </Block>
          )}
          {data.tasks && (
            <Block title="home.tasks" empty="empty.tasks" items={data.tasks.items} id={(task) => task.userTaskKey}>
              {(task) => <Task task={task} />}
            </Block>
          )}
          {data.oldest && (
            <Block
              title="home.oldest"
              empty="empty.instances"
              items={data.oldest.items}
              id={(i) => i.processInstanceKey}
            >
              {(instance) => <Row instance={instance} />}
            </Block>
          )}
          {data.ended && (
            <Block title="home.ended" empty="empty.ended" items={data.ended.items} id={(i) => i.processInstanceKey}>
              {(instance) => <Row instance={instance} />}
            </Block>
          )}
          {data.timers && (
            <Block title="home.timers" empty="empty.timers" items={data.timers.items} id={(timer) => timer.timerKey}>
              {(timer) => <Due timer={timer} />}
            </Block>
          )}
        </div>
      )}
    </>
  );
}
