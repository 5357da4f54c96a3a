// Home: what needs me.
import { ifAllowed, search } from '../lib/api.ts';
import { causesOf, type Running, runningInAll } from '../lib/counts.ts';
import { grouped } from '../lib/groups.ts';
import { number, t, total } from '../lib/i18n.ts';
import { useResource } from '../lib/resource.ts';
import { href } from '../lib/router.ts';
import type { CauseCount, Instance, Job, Page, Timer, UserTask } from '../lib/shapes.ts';
import { ago } from '../lib/time.ts';
import { Head } from '../parts/head.tsx';
import { Place } from '../parts/place.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { State } from '../parts/state.tsx';
import { Time } from '../parts/time.tsx';
import { kindOf } from './incidents.tsx';

/** Null: the user may not see it. */
type Found = {
  running: Running | null;
  causes: CauseCount[] | null;
  tasks: Page<UserTask> | null;
  jobs: Page<Job> | null;
  oldest: Page<Instance> | null;
  timers: Page<Timer> | null;
};

async function load(abort: AbortSignal): Promise<Found> {
  const few = { page: { limit: 6 } };
  const one = { page: { limit: 1 } };
  const [oldest, running, tasks, jobs, timers, causes] = await Promise.all([
    ifAllowed(
      search<Instance>(
        'process-instances',
        { filter: { state: 'ACTIVE' }, sort: [{ field: 'startDate', order: 'ASC' }], ...few },
        abort,
      ),
    ),
    ifAllowed(runningInAll(abort)),
    ifAllowed(
      search<UserTask>(
        'user-tasks',
        { filter: { state: 'CREATED' }, sort: [{ field: 'creationDate', order: 'ASC' }], ...few },
        abort,
      ),
    ),
    ifAllowed(search<Job>('jobs', { filter: { state: 'CREATED' }, ...one }, abort)),
    ifAllowed(
      search<Timer>(
        'timers',
        { filter: { state: 'PENDING' }, sort: [{ field: 'dueDate', order: 'ASC' }], ...few },
        abort,
      ),
    ),
    ifAllowed(causesOf(200, abort)),
  ]);
  return { running, causes, tasks, jobs, oldest, timers };
}

function Figure({ to, label, n, bad = false }: { to: string; label: string; n: string; bad?: boolean }) {
  return (
    <a class={bad ? 'figure bad' : 'figure'} href={to}>
      <b>{n}</b>
      <span>{label}</span>
    </a>
  );
}

function Causes({ causes }: { causes: CauseCount[] }) {
  return (
    <section>
      <h2>{t('home.incidents')}</h2>
      {!causes.length && <p class="dim">{t('empty.incidents')}</p>}
      <table class="list" aria-label={t('home.incidents')}>
        <tbody>
          {grouped(causes)
            .slice(0, 6)
            .map((group) => {
              const first = group.places[0]!;
              return (
                <tr key={group.cause}>
                  <td class="number bad">
                    <b>{number(group.total)}</b>
                  </td>
                  <td class="about">
                    <a
                      data-row
                      href={
                        group.total === 1
                          ? href(`/instances/${first.processInstanceKey}`, { element: first.elementId })
                          : href('/incidents')
                      }
                    >
                      {group.message || kindOf(first.errorType)}
                    </a>
                    <small>
                      {kindOf(first.errorType)}
                      {group.places.length === 1 && ` · ${first.processDefinitionId} / ${first.elementId}`}
                    </small>
                  </td>
                </tr>
              );
            })}
        </tbody>
      </table>
    </section>
  );
}

function Tasks({ tasks }: { tasks: UserTask[] }) {
  return (
    <section>
      <h2>{t('home.tasks')}</h2>
      {tasks.length ? (
        <table class="list" aria-label={t('home.tasks')}>
          <tbody>
            {tasks.map((task) => (
              <tr key={task.userTaskKey}>
                <td class="wide">
                  <a data-row href={href(`/tasks/${task.userTaskKey}`)}>
                    {task.name ?? task.elementId}
                  </a>
                </td>
                <td class="dim">
                  {task.processName ?? task.processDefinitionId}
                  {task.businessId && ` · ${task.businessId}`}
                </td>
                <td>{task.assignee ?? <span class="dim">{t('task.unassigned')}</span>}</td>
                <td class="number">{ago(task.creationDate)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : (
        <p class="dim">{t('empty.tasks')}</p>
      )}
    </section>
  );
}

function Oldest({ instances }: { instances: Instance[] }) {
  return (
    <section>
      <h2>{t('home.oldest')}</h2>
      {instances.length ? (
        <table class="list" aria-label={t('home.oldest')}>
          <tbody>
            {instances.map((i) => (
              <tr key={i.processInstanceKey}>
                <td class="wide">
                  <a data-row href={href(`/instances/${i.processInstanceKey}`)}>
                    {i.businessId ?? <code>{i.processInstanceKey}</code>}
                  </a>
                </td>
                <td class="dim">{i.processDefinitionName ?? i.processDefinitionId}</td>
                <td>
                  <State of={i.state} incident={i.hasIncident} />
                </td>
                <td class="number">{ago(i.startDate)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : (
        <p class="dim">{t('empty.instances')}</p>
      )}
    </section>
  );
}

function Due({ timers }: { timers: Timer[] }) {
  return (
    <section>
      <h2>{t('home.timers')}</h2>
      {timers.length ? (
        <table class="list" aria-label={t('home.timers')}>
          <tbody>
            {timers.map((timer) => (
              <tr key={timer.timerKey}>
                <td>
                  <Time at={timer.dueDate} />
                </td>
                <td class="wide">
                  <Place at={timer} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : (
        <p class="dim">{t('empty.timers')}</p>
      )}
    </section>
  );
}

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
            {data.tasks && <Figure to={href('/tasks')} label={t('nav.tasks')} n={total(data.tasks.page)} />}
            {data.jobs && <Figure to={href('/jobs')} label={t('home.jobs')} n={total(data.jobs.page)} />}
          </div>
          {data.causes && <Causes causes={data.causes} />}
          {data.tasks && <Tasks tasks={data.tasks.items} />}
          {data.oldest && <Oldest instances={data.oldest.items} />}
          {data.timers && <Due timers={data.timers.items} />}
        </div>
      )}
    </>
  );
}
