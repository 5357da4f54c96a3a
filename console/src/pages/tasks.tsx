// User tasks: the list beside the task that is open. Claim it, fill in its form or JSON, complete it, and the next one opens.
import { useSignal } from '@preact/signals';
import { get, search, send } from '../lib/api.ts';
import { type Command, perform, variablesOption } from '../lib/commands.ts';
import { identity } from '../lib/filters.ts';
import { t, total } from '../lib/i18n.ts';
import { exact, restored, variablesOf } from '../lib/json.ts';
import { useResource } from '../lib/resource.ts';
import { go, href, put, query } from '../lib/router.ts';
import { COMPLETE_TASK, me as whoami } from '../lib/session.ts';
import type { Form, Page, PageInfo, UserTask, Variable } from '../lib/shapes.ts';
import { ago } from '../lib/time.ts';
import { lackOf } from '../parts/act.tsx';
import { CopyCommands } from '../parts/copy_commands.tsx';
import { Divider } from '../parts/divider.tsx';
import { FormView } from '../parts/form.tsx';
import { Head } from '../parts/head.tsx';
import { Held, useSuspended } from '../parts/held.tsx';
import { JsonArea } from '../parts/json_area.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { Rest } from '../parts/rest.tsx';
import { State } from '../parts/state.tsx';
import { tenantOf } from '../parts/tenant.tsx';
import { KeyText, Time } from '../parts/time.tsx';
import { ListenerWait } from './listener_wait.tsx';
import { Assignment, claimOf } from './task_assignment.tsx';

const SIZE = 100;
const VIEWS = ['open', 'mine', 'unassigned', 'done'] as const;

function filterOf(view: string, q: string, me: string): Record<string, unknown> {
  const found = q ? identity(q) : {};
  if (view === 'done') return { state: 'COMPLETED', ...found };
  return {
    state: 'CREATED',
    ...found,
    ...(view === 'mine' && { assignee: me }),
    ...(view === 'unassigned' && { assignee: { $exists: false } }),
  };
}

const useMe = (): string => whoami.value?.username ?? '';

const ownerOf = ({ processDefinitionId, processInstanceKey, tenantId }: UserTask) => ({
  processDefinitionId,
  processInstanceKey,
  ...tenantOf(tenantId),
});

type Opened = { task: UserTask; variables: Variable[]; variablePage: PageInfo; form: Form | null };

async function open(key: string, abort: AbortSignal): Promise<Opened> {
  const path = `/v2/user-tasks/${key}`;
  const [task, variables, form] = await Promise.all([
    get<UserTask>(path, abort),
    send<Page<Variable>>(
      {
        method: 'POST',
        path: `${path}/effective-variables/search?truncateValues=false`,
        body: { page: { limit: 500 } },
      },
      abort,
    ),
    send<Form | ''>({ method: 'GET', path: `${path}/form` }, abort),
  ]);
  return {
    task,
    variables: variables.body.items,
    variablePage: variables.body.page,
    form: form.body || null,
  };
}

/** Complete with JSON: the variables that the task sees are shown beside, what is typed is sent. */
function JsonCompletion({
  completion,
  disabled,
  onDone,
}: {
  completion: (variables: Record<string, unknown>) => Command;
  disabled: boolean;
  onDone: () => void;
}) {
  const text = useSignal('');
  const found = variablesOf(text.value);
  const command = completion(found.value ?? {});
  const submit = async (event: Event) => {
    event.preventDefault();
    if (await perform(t('task.complete'), command)) onDone();
  };
  return (
    <form class="stack" onSubmit={submit}>
      <JsonArea
        label={t('task.result')}
        text={text}
        rows={5}
        placeholder='{"approved": true}'
        problem={found.problem}
      />
      <CopyCommands commands={[command]} />
      <div class="row">
        <button type="submit" class="primary" disabled={disabled || found.problem !== null}>
          {t('task.complete')}
        </button>
      </div>
    </form>
  );
}

function Task({ id, me, onDone }: { id: string; me: string; onDone: () => void }) {
  const found = useResource(`task ${id}`, (abort) => open(id, abort));
  const data = found.data.value;
  const held = useSuspended(data?.task.processInstanceKey ?? null);
  const state = useResource(`task state ${id}`, (abort) => get<UserTask>(`/v2/user-tasks/${id}`, abort), ['tasks']).data
    .value;
  if (!data)
    return (
      <section class="pane">
        {found.problem.value ? (
          <ProblemBox problem={found.problem.value} retry={found.reload} of={['/tasks', 'nav.tasks']} />
        ) : (
          <p class="dim">{t('loading')}</p>
        )}
      </section>
    );
  const task = state ?? data.task;
  const path = `/v2/user-tasks/${id}/completion`;
  const instanceUrl = href(`/instances/${task.processInstanceKey}`, { element: task.elementId });
  const isOpen = task.state === 'CREATED';
  const ofAnother = isOpen && task.assignee !== null && task.assignee !== me;
  const lack = !isOpen ? null : held ? t('task.held') : lackOf(COMPLETE_TASK, task.processDefinitionId);
  // A form knows only doubles: a number that it leaves as it is goes back with all its digits.
  const values = Object.fromEntries(data.variables.map(({ name, value }) => [name, exact(value)]));
  const entered = (of: Record<string, unknown>) => completion(restored(of, values) as Record<string, unknown>);
  const completion = (variables: Record<string, unknown>): Command => ({
    method: 'POST',
    path,
    body: { variables },
    cli: `task complete ${id}${variablesOption(variables)}`,
  });
  return (
    <section class="pane" aria-label={t('task')}>
      <header class="row spread">
        <h2>{task.name ?? task.elementId}</h2>
        <div class="row">
          <State of={held ? 'SUSPENDED' : task.state} />
          {!held && <Assignment task={task} me={me} />}
        </div>
      </header>
      <dl>
        <dt>{t('process')}</dt>
        <dd>
          <a href={instanceUrl}>
            {task.processName ?? task.processDefinitionId}
            {task.businessId && ` · ${task.businessId}`}
          </a>
        </dd>
        <dt>{t('task.assignee')}</dt>
        <dd>{task.assignee ?? <span class="dim">{t('task.unassigned')}</span>}</dd>
        {task.candidateGroups.length > 0 && (
          <>
            <dt>{t('task.groups')}</dt>
            <dd>{task.candidateGroups.join(', ')}</dd>
          </>
        )}
        <dt>{t('started')}</dt>
        <dd>
          <Time at={task.creationDate} />
        </dd>
        {task.dueDate && (
          <>
            <dt>{t('timer.due')}</dt>
            <dd>
              <Time at={task.dueDate} />
            </dd>
          </>
        )}
        <dt>{t('key')}</dt>
        <dd>
          <KeyText of={id} />
        </dd>
      </dl>
      <ListenerWait task={task} />
      {isOpen && !held && <CopyCommands commands={[claimOf(task, me)[0]]} label={t(claimOf(task, me)[1])} />}
      {ofAnother && (
        <p class="dim" role="note">
          {t('task.ofAnother', { name: task.assignee! })}
        </p>
      )}
      {lack && (
        <p class="dim" role="note">
          {lack}
        </p>
      )}
      {data.form ? (
        <FormView
          schema={data.form.schema}
          data={Object.fromEntries(data.variables.map(({ name, value }) => [name, JSON.parse(value) as unknown]))}
          owner={ownerOf(task)}
          disabled={!isOpen || ofAnother || lack !== null}
          commandOf={entered}
          onSubmit={async (variables) => {
            if (await perform(t('task.complete'), entered(variables))) onDone();
          }}
        />
      ) : (
        isOpen && <JsonCompletion completion={completion} disabled={ofAnother || lack !== null} onDone={onDone} />
      )}
      <h3>{t('variables')}</h3>
      <table class="variables">
        <tbody>
          {data.variables.map(({ name, value }) => (
            <tr key={name}>
              <th scope="row" title={name}>
                {name}
              </th>
              <td>
                <code>{value}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Rest shown={data.variables.length} of={data.variablePage} to={instanceUrl} />
    </section>
  );
}

export function Tasks({ id }: { id?: string }) {
  const me = useMe();
  const view = query.value.get('view') ?? 'open';
  const q = (query.value.get('q') ?? '').trim();
  const kept = { view: query.value.get('view'), q };
  const body = {
    filter: filterOf(view, q, me),
    sort: [
      { field: 'priority', order: 'DESC' as const },
      { field: 'creationDate', order: 'ASC' as const },
    ],
    page: { limit: SIZE },
  };
  const found = useResource<Page<UserTask>>(
    view === 'mine' && !me ? '' : JSON.stringify(body),
    (abort) => search('user-tasks', body, abort),
    ['tasks'],
  );
  const page = found.data.value;
  const next = () => {
    const items = page?.items ?? [];
    const i = items.findIndex((task) => task.userTaskKey === id);
    const after = items[i + 1] ?? items[i - 1];
    go(after ? href(`/tasks/${after.userTaskKey}`, kept) : href('/tasks', kept));
  };
  return (
    <div class="full">
      <Head
        title={t('nav.tasks')}
        actions={
          <fieldset class="states">
            <legend class="sr">{t('state')}</legend>
            {VIEWS.map((name) => (
              <label key={name}>
                <input
                  type="radio"
                  name="view"
                  checked={view === name}
                  onChange={() => put({ view: name === 'open' ? null : name })}
                />
                {t(`task.view.${name}`)}
              </label>
            ))}
          </fieldset>
        }
      />
      <div class={id ? 'panes opened' : 'panes'}>
        <section class="pane tasks" aria-label={t('nav.tasks')}>
          <form role="search" aria-label={t('filters')} onSubmit={(event) => event.preventDefault()}>
            <input
              type="search"
              data-search
              placeholder={t('filter.q')}
              aria-label={t('filter.q')}
              value={q}
              onChange={(event) => put({ q: event.currentTarget.value || null })}
            />
          </form>
          {found.problem.value && <ProblemBox problem={found.problem.value} retry={found.reload} />}
          {page && (
            <p class="total" role="status">
              {t('total', { n: total(page.page) })}
            </p>
          )}
          <ul>
            {page?.items.map((task) => (
              <li key={task.userTaskKey}>
                <a
                  data-row
                  class="task"
                  href={href(`/tasks/${task.userTaskKey}`, kept)}
                  aria-current={task.userTaskKey === id ? 'true' : undefined}
                >
                  <b>{task.name ?? task.elementId}</b>
                  <span class="dim">
                    {task.processName ?? task.processDefinitionId}
                    {task.businessId && ` · ${task.businessId}`}
                  </span>
                  <span class="dim">
                    {task.assignee ?? t('task.unassigned')} · {ago(task.creationDate)}
                    {task.priority !== 50 && ` · ${t('task.priority')} ${task.priority}`}{' '}
                    <Held of={task.processInstanceKey} />
                  </span>
                </a>
              </li>
            ))}
          </ul>
          {page && !page.items.length && (
            <div class="empty">
              <p>{t('empty.tasks')}</p>
              {q ? (
                <a class="button" href={href('/tasks', { view: kept.view })}>
                  {t('filter.clear')}
                </a>
              ) : (
                <a class="button" href={href('/processes')}>
                  {t('nav.processes')}
                </a>
              )}
            </div>
          )}
        </section>
        <Divider of="list" along="x" grows={1} least={200} most={640} usual={340} />
        {id ? (
          <Task key={id} id={id} me={me} onDone={next} />
        ) : (
          <section class="pane">
            <div class="empty">
              <p>{t('task.choose')}</p>
            </div>
          </section>
        )}
      </div>
    </div>
  );
}
