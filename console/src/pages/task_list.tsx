// The list of tasks: its filters and its order, which are in the URL, and what is late.
import { useSignal } from '@preact/signals';
import { search } from '../lib/api.ts';
import { counted, type Key, t } from '../lib/i18n.ts';
import { useGrowing } from '../lib/pages.ts';
import { useResource } from '../lib/resource.ts';
import { href, put, query } from '../lib/router.ts';
import type { Definition, UserTask } from '../lib/shapes.ts';
import { ago, when } from '../lib/time.ts';
import { Held } from '../parts/held.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { Rest } from '../parts/rest.tsx';
import { DATES, FILTERS, isOverdue, orderOf, SORTS, taskFilter } from './task_filters.ts';

const SIZE = 100;
const MINUTE_MS = 60_000;

type Choice = readonly [value: string, text: string];

/** A filter with a few values. */
function Select({ name, label, choices }: { name: string; label: string; choices: readonly Choice[] }) {
  return (
    <label>
      {label}
      <select
        value={query.value.get(name) ?? choices[0]![0]}
        onChange={({ currentTarget: { value } }) => put({ [name]: value === choices[0]![0] ? null : value })}
      >
        {choices.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

type InputProps = { name: string; label: string; type?: string; list?: readonly string[]; placeholder?: string };

/** A filter that somebody types. */
function Input({ name, label, type = 'text', list, placeholder }: InputProps) {
  return (
    <label>
      {label}
      <input
        type={type}
        placeholder={placeholder}
        list={list && `of-${name}`}
        value={query.value.get(name) ?? ''}
        onChange={(event) => put({ [name]: event.currentTarget.value || null })}
      />
      {list && (
        <datalist id={`of-${name}`}>
          {list.map((value) => (
            <option key={value} value={value} />
          ))}
        </datalist>
      )}
    </label>
  );
}

/** The processes by their names, and the chosen one even if it is unknown. */
function useProcesses(isOpen: boolean): Choice[] {
  const found = useResource(
    isOpen ? 'definitions of tasks' : '',
    (abort) =>
      search<Definition>('process-definitions', { filter: { isLatestVersion: true }, page: { limit: 1000 } }, abort),
    ['definitions'],
  ).data.value;
  const chosen = query.value.get('process');
  const names = new Map(found?.items.map((one) => [one.processDefinitionId, one.name ?? one.processDefinitionId]));
  if (chosen && !names.has(chosen)) names.set(chosen, found ? t('filter.unknown', { id: chosen }) : chosen);
  return [['', t('filter.anyProcess')], ...names];
}

const dates = (past: Key): Choice[] => [
  ['', t('task.any')],
  ...DATES.map((name) => [name, t(name === 'past' ? past : `task.date.${name}`)] as const),
];

function Filters({ view, groups }: { view: string; groups: readonly string[] }) {
  const more = useSignal(FILTERS.some((name) => query.value.has(name)));
  const processes = useProcesses(more.value);
  return (
    <form role="search" aria-label={t('filters')} onSubmit={(event) => event.preventDefault()}>
      <input
        type="search"
        data-search
        placeholder={t('filter.q')}
        aria-label={t('filter.q')}
        value={query.value.get('q') ?? ''}
        onChange={(event) => put({ q: event.currentTarget.value || null })}
      />
      {view !== 'done' && (
        <Select
          name="sort"
          label={t('task.sort')}
          choices={Object.keys(SORTS).map((name) => [name, t(`task.sort.${name as keyof typeof SORTS}`)])}
        />
      )}
      <button
        type="button"
        aria-expanded={more.value}
        onClick={() => {
          more.value = !more.value;
        }}
      >
        {t('filter.more')}
      </button>
      {more.value && (
        <>
          <Select name="process" label={t('process')} choices={processes} />
          <Input name="name" label={t('task.name')} />
          <Input name="group" label={t('task.group')} list={groups} />
          {!['mine', 'unassigned'].includes(view) && <Input name="assignee" label={t('task.assignee')} />}
          <Input name="priority" label={t('task.atLeast')} type="number" />
          <Select name="due" label={t('timer.due')} choices={dates('task.overdue')} />
          <Select name="followUp" label={t('task.followUp')} choices={dates('task.date.past')} />
          <Input name="variable" label={t('filter.variable')} placeholder="orderId" />
          <Input name="value" label={t('filter.value')} placeholder='"A-17"' />
          <a class="button" href={href('/tasks', { view: query.value.get('view') })}>
            {t('filter.clear')}
          </a>
        </>
      )}
    </form>
  );
}

/** When a task should be done: in words and in colour if it is late. */
function Due({ task }: { task: UserTask }) {
  if (!task.dueDate) return null;
  if (isOverdue(task)) return <b class="late">! {t('task.overdueFor', { time: ago(task.dueDate) })}</b>;
  return (
    <span class="dim">
      {t('timer.due')} {when(task.dueDate)}
    </span>
  );
}

function Row({ task, isOpened }: { task: UserTask; isOpened: boolean }) {
  const kept = Object.fromEntries(query.value);
  return (
    <li>
      <a
        data-row
        class="task"
        href={href(`/tasks/${task.userTaskKey}`, kept)}
        aria-current={isOpened ? 'true' : undefined}
      >
        <b>{task.name ?? task.elementId}</b>
        <span class="dim">
          {task.processName ?? task.processDefinitionId}
          {task.businessId && ` · ${task.businessId}`}
        </span>
        <span class="dim">
          {task.assignee ?? t('task.unassigned')} · {ago(task.creationDate)}
          {task.priority !== 50 && ` · ${t('task.priority')} ${task.priority}`} <Held of={task.processInstanceKey} />
        </span>
        <Due task={task} />
      </a>
    </li>
  );
}

function Found(props: { view: string; me: string; groups: readonly string[]; id?: string; onRows: OnRows }) {
  const { view, me, groups, id, onRows } = props;
  const values = Object.fromEntries(query.value);
  const now = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS; // another filter in each moment would be asked for without an end
  const found = useGrowing<UserTask>(
    'user-tasks',
    taskFilter(values, me, groups, now),
    orderOf(view, values.sort ?? ''),
    SIZE,
    ['tasks'],
  );
  const page = found.data.value;
  onRows(page?.items ?? []);
  const isFiltered = ['q', ...FILTERS].some((name) => values[name]);
  return (
    <>
      {found.problem.value && <ProblemBox problem={found.problem.value} retry={found.reload} />}
      {page && (
        <p class="total" role="status">
          {counted('count.tasks', page.page)}
        </p>
      )}
      <ul>
        {page?.items.map((task) => (
          <Row key={task.userTaskKey} task={task} isOpened={task.userTaskKey === id} />
        ))}
      </ul>
      <Rest count="count.tasks" page={page} steps={found} />
      {page && !page.items.length && (
        <div class="empty">
          <p>{t(isFiltered ? 'empty.noTask' : 'empty.tasks')}</p>
          {isFiltered ? (
            <a class="button" href={href('/tasks', { view: values.view })}>
              {t('filter.clear')}
            </a>
          ) : (
            <a class="button" href={href('/processes')}>
              {t('nav.processes')}
            </a>
          )}
        </div>
      )}
    </>
  );
}

type OnRows = (items: readonly UserTask[]) => void;

/** The list beside the open task. `onRows` gets what it shows. */
export function TaskList(props: { view: string; me: string; groups: readonly string[]; id?: string; onRows: OnRows }) {
  return (
    <section class="pane tasks" aria-label={t('nav.tasks')}>
      <Filters view={props.view} groups={props.groups} />
      <Found key={query.value.toString()} {...props} />
    </section>
  );
}
