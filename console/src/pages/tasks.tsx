// User tasks: the list beside the task that is open. Claim it, fill in its form or JSON, complete it, and the next one opens.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { get, send } from '../lib/api.ts';
import { type Command, perform, variablesOption } from '../lib/commands.ts';
import { t } from '../lib/i18n.ts';
import { exact, restored, variablesOf } from '../lib/json.ts';
import { useResource } from '../lib/resource.ts';
import { go, href, put, query } from '../lib/router.ts';
import { COMPLETE_TASK, me as whoami } from '../lib/session.ts';
import type { Form, Page, UserTask, Variable } from '../lib/shapes.ts';
import { lackOf } from '../parts/act.tsx';
import { CopyCommands } from '../parts/copy_commands.tsx';
import { Divider } from '../parts/divider.tsx';
import { FormView } from '../parts/form.tsx';
import { Head, subject } from '../parts/head.tsx';
import { useSuspended } from '../parts/held.tsx';
import { JsonArea } from '../parts/json_area.tsx';
import { NotifyChoice } from '../parts/new_tasks.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { Rest } from '../parts/rest.tsx';
import { SavedViews } from '../parts/saved_views.tsx';
import { State } from '../parts/state.tsx';
import { tenantOf } from '../parts/tenant.tsx';
import { KeyText, Time } from '../parts/time.tsx';
import { ListenerWait } from './listener_wait.tsx';
import { Assignment, claimOf } from './task_assignment.tsx';
import { Comments } from './task_comments.tsx';
import { isOverdue, VIEWS } from './task_filters.ts';
import { TaskList } from './task_list.tsx';

const useMe = (): string => whoami.value?.username ?? '';

const ownerOf = ({ processDefinitionId, processInstanceKey, tenantId }: UserTask) => ({
  processDefinitionId,
  processInstanceKey,
  ...tenantOf(tenantId),
});

type Opened = { task: UserTask; variables: Page<Variable>; form: Form | null };

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
  return { task, variables: variables.body, form: form.body || null };
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
  const of = data && [data.task.name ?? data.task.elementId, data.task.businessId].filter(Boolean).join(' · ');
  useEffect(() => {
    subject.value = of ?? '';
    return () => {
      subject.value = '';
    };
  }, [of]);
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
  const values = Object.fromEntries(data.variables.items.map(({ name, value }) => [name, exact(value)]));
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
              <Time at={task.dueDate} /> {isOverdue(task) && <b class="late">! {t('task.overdue')}</b>}
            </dd>
          </>
        )}
        {task.followUpDate && (
          <>
            <dt>{t('task.followUp')}</dt>
            <dd>
              <Time at={task.followUpDate} />
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
          data={Object.fromEntries(data.variables.items.map(({ name, value }) => [name, JSON.parse(value) as unknown]))}
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
          {data.variables.items.map(({ name, value }) => (
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
      <Rest count="count.variables" page={data.variables} to={instanceUrl} />
      <Comments task={task} />
    </section>
  );
}

export function Tasks({ id }: { id?: string }) {
  const me = useMe();
  const groups = whoami.value?.groups ?? [];
  const view = query.value.get('view') ?? 'open';
  const rows = useRef<readonly UserTask[]>([]);
  const next = () => {
    const i = rows.current.findIndex((task) => task.userTaskKey === id);
    const after = rows.current[i + 1] ?? rows.current[i - 1];
    go(href(after ? `/tasks/${after.userTaskKey}` : '/tasks', Object.fromEntries(query.value)));
  };
  return (
    <div class="full">
      <Head
        title={t('nav.tasks')}
        actions={
          <>
            <NotifyChoice />
            <SavedViews resource="user-tasks" />
            <fieldset class="states">
              <legend class="sr">{t('state')}</legend>
              {VIEWS.filter((name) => name !== 'groups' || groups.length > 0 || view === name).map((name) => (
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
          </>
        }
      />
      <div class={id ? 'panes opened' : 'panes'}>
        <TaskList
          view={view}
          me={me}
          groups={groups}
          {...(id !== undefined && { id })}
          onRows={(items) => {
            rows.current = items;
          }}
        />
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
