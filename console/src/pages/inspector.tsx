// The inspector of an instance page: an element with its cure, its jobs, waits and variables; or the whole instance.
import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import type { View } from '../history/fold.ts';
import { search } from '../lib/api.ts';
import type { CompensationModel } from '../lib/compensation.ts';
import { kindOf } from '../lib/groups.ts';
import { t } from '../lib/i18n.ts';
import type { Now } from '../lib/instance.ts';
import { FACTOR, MOST, useGrowing } from '../lib/pages.ts';
import { useResource } from '../lib/resource.ts';
import { href } from '../lib/router.ts';
import type { ElementInstance, Instance, Job, Page, Subscription, Timer, UserTask, Variable } from '../lib/shapes.ts';
import { ErrorText } from '../parts/error_text.tsx';
import { Opened } from '../parts/lazy.tsx';
import { Rest } from '../parts/rest.tsx';
import { State } from '../parts/state.tsx';
import { Copy, Time } from '../parts/time.tsx';
import { type Row, Variables } from '../parts/variables.tsx';
import { Activations, type AdHoc, AdHocCards } from './ad_hoc.tsx';
import type { CallsProps } from './agents/calls.tsx';
import type { CompensationProps } from './compensation.tsx';
import { ElementTree, selectedScope } from './element_tree.tsx';
import { Incidents } from './incident_cards.tsx';
import { JobCard } from './job_card.tsx';
import { DECIDING, ListenerWait } from './listener_wait.tsx';
import { PublishButton } from './message_actions.tsx';
import { SuspendedCard } from './suspension.tsx';
import { TaskDecisions } from './task_decisions.tsx';
import { TimerActions } from './timers.tsx';

type Waits = {
  elements: ElementInstance[];
  timers: Page<Timer>;
  subscriptions: Page<Subscription>;
  tasks: Page<UserTask>;
};

const FEW = 20;

/** Few processes have compensation. */
const compensated = async (): Promise<ComponentType<CompensationProps>> =>
  (await import('./compensation.tsx')).Compensation;
/** Few processes have agents. */
const agentCalls = async (): Promise<ComponentType<CallsProps>> => (await import('./agents/calls.tsx')).AgentCallCards;

async function loadWaits(instance: string, element: string, limit: number, abort: AbortSignal): Promise<Waits> {
  const of = { processInstanceKey: instance, elementId: element };
  const page = { limit };
  const [elements, timers, subscriptions, tasks] = await Promise.all([
    search<ElementInstance>(
      'element-instances',
      { filter: of, sort: [{ field: 'startDate', order: 'DESC' }], page: { limit: FEW } },
      abort,
    ),
    search<Timer>('timers', { filter: { ...of, state: 'PENDING' }, page }, abort),
    search<Subscription>(
      'message-subscriptions',
      { filter: { ...of, messageSubscriptionState: 'CREATED' }, page },
      abort,
    ),
    search<UserTask>('user-tasks', { filter: { ...of, state: { $in: ['CREATED', ...DECIDING] } }, page }, abort),
  ]);
  return { elements: elements.items, timers, subscriptions, tasks };
}

type WaitsProps = { waits: Waits; more: (() => void) | null };

function WaitCards({ waits, more }: WaitsProps) {
  return (
    <>
      {waits.tasks.items.map((task) => (
        <div key={task.userTaskKey}>
          <p>
            <a class="button" href={href(`/tasks/${task.userTaskKey}`)}>
              {t('task.open')}
            </a>{' '}
            {task.assignee ?? t('task.unassigned')}
          </p>
          <ListenerWait task={task} />
        </div>
      ))}
      <Rest count="count.tasks" page={waits.tasks} steps={{ more }} />
      {waits.timers.items.map((timer) => (
        <div key={timer.timerKey} class="wait">
          ◔ {t('timer.due')} <Time at={timer.dueDate} /> <TimerActions timer={timer} />
        </div>
      ))}
      <Rest count="count.timers" page={waits.timers} steps={{ more }} />
      {waits.subscriptions.items.map((s) => (
        <div key={s.messageSubscriptionKey} class="wait">
          ✉ {t('message.waits', { name: s.messageName })}{' '}
          {s.correlationKey && (
            <>
              <code>{s.correlationKey}</code>
              <Copy text={s.correlationKey} />
            </>
          )}{' '}
          <PublishButton name={s.messageName} correlationKey={s.correlationKey ?? ''} />
        </div>
      ))}
      <Rest count="count.subscriptions" page={waits.subscriptions} steps={{ more }} />
    </>
  );
}

const rowOf = (v: Variable): Row => ({
  name: v.name,
  value: v.value,
  scope: v.scopeKey,
  fresh: false,
  cut: v.isTruncated ?? false,
  key: v.variableKey,
});

const BY_NAME = [{ field: 'name', order: 'ASC' as const }];

type ScopeProps = { title: string; scope: string; instance: string; editable: Instance | null };

/** The variables of a scope: those of one element instance are seen by it and by what is inside of it. */
function Scope({ title, scope, instance, editable }: ScopeProps) {
  const found = useGrowing<Variable>('variables', { scopeKey: scope }, BY_NAME, 100, [`instance:${instance}`]);
  const page = found.data.value;
  if (!page?.items.length) return null;
  return (
    <>
      <Variables title={title} rows={page.items.map(rowOf)} editable={editable} />
      <Rest count="count.variables" page={page} steps={found} />
    </>
  );
}

function Jobs({ now, element }: { now: Now; element: string }) {
  const instance = now.instance.processInstanceKey;
  const filter = { processInstanceKey: instance, elementId: element };
  const found = useGrowing<Job>('jobs', filter, [{ field: 'jobKey', order: 'DESC' }], 5, [`instance:${instance}`]);
  const page = found.data.value;
  if (!page?.items.length) return null;
  return (
    <>
      <h3>{t('jobs')}</h3>
      {page.items.map((job) => (
        <JobCard key={job.jobKey} job={job} held={now.instance.state === 'SUSPENDED'} />
      ))}
      <Rest count="count.jobs" page={page} steps={found} />
    </>
  );
}

type InspectorProps = {
  now: Now;
  view: View | null;
  /** The state after the last event that the page knows, or at `view`. */
  history: View;
  adHocs: AdHoc[];
  compensation: CompensationModel | null;
  loops: ReadonlyMap<string, string | null>;
  /** Whether the process has agents that the server works. */
  agents: boolean;
  selected: string | null;
  onSelect: (id: string | null) => void;
  name: (id: string) => string;
};

export function Inspector({
  now,
  view,
  history,
  adHocs,
  compensation,
  loops,
  agents,
  selected,
  onSelect,
  name,
}: InspectorProps) {
  const key = now.instance.processInstanceKey;
  const past = view !== null;
  const waiting = useSignal(FEW);
  const waits = useResource(
    selected ? `waits ${key} ${selected} ${waiting.value}` : '',
    (abort) => loadWaits(key, selected!, waiting.value, abort),
    [`instance:${key}`],
  ).data.value;
  const moreWaits = () => {
    waiting.value *= FACTOR;
  };
  const elements = selected ? (waits?.elements ?? []) : [];
  const scopes = new Set(
    past
      ? [...view.elements.values()].filter((e) => e.id === selected).map((e) => e.key)
      : elements.map((e) => e.elementInstanceKey),
  );
  const all = view ? [...view.variables.values()] : now.variables.map(rowOf);
  const local = all.filter((row) => scopes.has(row.scope));
  const global = all.filter((row) => row.scope === key);
  // The iterations of a loop have variables of their own: one of them is chosen.
  const run =
    elements.find(({ type }) => type === 'MULTI_INSTANCE_BODY') ?? (loops.has(selected ?? '') ? null : elements[0]);
  const scope = past ? null : (selectedScope() ?? run?.elementInstanceKey ?? null);
  const editable = !past && !now.instance.endDate ? now.instance : null;
  const others = all.length - global.length - local.length;
  return (
    <aside aria-label={t('details')}>
      {past && <p class="past-note">{t('history.readOnly')}</p>}
      {!past && <SuspendedCard instance={now.instance} />}
      <div class="aside-head">
        <h2>{selected ? name(selected) : t('instance')}</h2>
        {selected && (
          <button
            type="button"
            class="quiet"
            aria-label={t('wholeInstance')}
            title={t('wholeInstance')}
            onClick={() => onSelect(null)}
          >
            ×
          </button>
        )}
      </div>
      {selected && (
        <p class="dim">
          <code>{selected}</code>
        </p>
      )}
      {past
        ? [...view.incidents.values()]
            .filter((i) => !selected || i.elementId === selected)
            .map((i) => (
              <div key={i.key} class="incident">
                <p>
                  <b>{kindOf(i.type)}</b> {name(i.elementId)}
                </p>
                <ErrorText of={i.message} />
              </div>
            ))
        : null}
      {!past && <Incidents key={selected} now={now} selected={selected} scopes={scopes} />}
      {!past && waits && <WaitCards waits={waits} more={waiting.value < MOST ? moreWaits : null} />}
      {!past && <AdHocCards of={adHocs} selected={selected} name={name} />}
      {!past && <TaskDecisions instance={key} elements={elements} />}
      {selected && <Activations view={history} selected={selected} name={name} />}
      {compensation && (
        <Opened
          key={selected}
          load={compensated}
          props={{
            instance: key,
            model: compensation,
            selected,
            live: editable !== null,
            view: history,
            name,
          }}
        />
      )}
      {!past && agents && (
        <Opened key={selected} load={agentCalls} props={{ instance: key, selected, onSelect, name }} />
      )}
      {scope && <Scope key={scope} title={t('variables.local')} scope={scope} instance={key} editable={editable} />}
      {local.length > 0 && <Variables title={t('variables.local')} rows={local} editable={editable} />}
      {!past && now.variablePage.totalItems > global.length ? (
        <Scope title={t('variables')} scope={key} instance={key} editable={editable} />
      ) : (
        <Variables title={t('variables')} rows={global} editable={editable} />
      )}
      {others > 0 && <p class="dim">{t('variables.others', { n: others })}</p>}
      {!past && selected && <Jobs key={selected} now={now} element={selected} />}
      {!past && <ElementTree key={selected} instance={key} of={selected} loops={loops} name={name} />}
      {!selected && <Tree now={now} view={view} onSelect={onSelect} name={name} />}
    </aside>
  );
}

/** The elements as a list: the same as the diagram, for those who do not see it. */
function Tree({
  now,
  view,
  onSelect,
  name,
}: {
  now: Now;
  view: View | null;
  onSelect: (id: string) => void;
  name: (id: string) => string;
}) {
  const marks = view ? [...view.marks.elements] : now.statistics.map((s) => [s.elementId, s] as const);
  return (
    <>
      <h3>{t('elements')}</h3>
      <table class="small">
        <tbody>
          {marks.map(([id, mark]) => (
            <tr key={id}>
              <th scope="row">
                <button type="button" class="link" onClick={() => onSelect(id)}>
                  {name(id)}
                </button>
              </th>
              <td>
                {mark.incidents ? (
                  <State of="INCIDENT" />
                ) : mark.active ? (
                  <State of="ACTIVE" />
                ) : mark.completed ? (
                  <State of="COMPLETED" />
                ) : (
                  <State of="CANCELED" />
                )}
              </td>
              <td class="number dim">
                {mark.completed + mark.active + mark.incidents + mark.canceled > 1
                  ? `×${mark.completed + mark.active + mark.incidents + mark.canceled}`
                  : ''}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
