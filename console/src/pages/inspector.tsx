// The inspector of an instance page: an element with its cure, its jobs, waits and variables; or the whole instance.
import type { View } from '../history/fold.ts';
import { search } from '../lib/api.ts';
import type { CompensationModel } from '../lib/compensation.ts';
import { kindOf } from '../lib/groups.ts';
import { t } from '../lib/i18n.ts';
import type { Now } from '../lib/instance.ts';
import { useGrowing } from '../lib/pages.ts';
import { useResource } from '../lib/resource.ts';
import { href } from '../lib/router.ts';
import { UPDATE_INSTANCE } from '../lib/session.ts';
import type {
  ElementInstance,
  Incident,
  Instance,
  Job,
  Page,
  Subscription,
  Timer,
  UserTask,
  Variable,
} from '../lib/shapes.ts';
import { ErrorText } from '../parts/error_text.tsx';
import { Opening } from '../parts/opening.tsx';
import { Rest } from '../parts/rest.tsx';
import { State } from '../parts/state.tsx';
import { Copy, Time } from '../parts/time.tsx';
import { type Row, Variables } from '../parts/variables.tsx';
import { Activations, type AdHoc, AdHocCards } from './ad_hoc.tsx';
import { Compensation } from './compensation.tsx';
import { ElementTree, selectedScope } from './element_tree.tsx';
import { Retry } from './instance_actions.tsx';
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

async function loadWaits(instance: string, element: string, abort: AbortSignal): Promise<Waits> {
  const of = { processInstanceKey: instance, elementId: element };
  const [elements, timers, subscriptions, tasks] = await Promise.all([
    search<ElementInstance>(
      'element-instances',
      { filter: of, sort: [{ field: 'startDate', order: 'DESC' }], page: { limit: 20 } },
      abort,
    ),
    search<Timer>('timers', { filter: { ...of, state: 'PENDING' }, page: { limit: 20 } }, abort),
    search<Subscription>(
      'message-subscriptions',
      { filter: { ...of, messageSubscriptionState: 'CREATED' }, page: { limit: 20 } },
      abort,
    ),
    search<UserTask>(
      'user-tasks',
      { filter: { ...of, state: { $in: ['CREATED', ...DECIDING] } }, page: { limit: 20 } },
      abort,
    ),
  ]);
  return { elements: elements.items, timers, subscriptions, tasks };
}

function IncidentCard({ now, incident, past }: { now: Now; incident: Incident; past: boolean }) {
  const elsewhere = incident.processInstanceKey !== now.instance.processInstanceKey;
  const held = !elsewhere && now.instance.state === 'SUSPENDED';
  return (
    <div class="incident">
      <p>
        <b>{kindOf(incident.errorType)}</b>{' '}
        <span class="dim">
          <Time at={incident.creationTime} />
        </span>
      </p>
      <ErrorText of={incident.errorMessage} />
      {elsewhere && (
        <p>
          <a href={href(`/instances/${incident.processInstanceKey}`, { element: incident.elementId })}>
            {t('incident.inCalled', { id: incident.elementId })}
          </a>
        </p>
      )}
      {held && <p class="dim">{t('incident.resumeFirst')}</p>}
      {!past && !held && (
        <div class="row">
          <Opening need={UPDATE_INSTANCE} of={incident.processDefinitionId} class="primary" text={t('incident.retry')}>
            {(close) => <Retry now={now} incidents={[incident]} onClose={close} />}
          </Opening>
        </div>
      )}
    </div>
  );
}

function WaitCards({ waits, instance }: { waits: Waits; instance: string }) {
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
      <Rest shown={waits.tasks.items.length} of={waits.tasks.page} to={href('/tasks', { q: instance })} />
      {waits.timers.items.map((timer) => (
        <div key={timer.timerKey} class="wait">
          ◔ {t('timer.due')} <Time at={timer.dueDate} /> <TimerActions timer={timer} />
        </div>
      ))}
      <Rest shown={waits.timers.items.length} of={waits.timers.page} to={href('/timers')} />
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
      <Rest shown={waits.subscriptions.items.length} of={waits.subscriptions.page} to={href('/messages')} />
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

/** The variables of one element instance, which only it and what is inside of it see. */
function Local({ scope, instance, editable }: { scope: string; instance: string; editable: Instance | null }) {
  const found = useGrowing<Variable>('variables', { scopeKey: scope }, BY_NAME, 100, [`instance:${instance}`]);
  const page = found.data.value;
  if (!page?.items.length) return null;
  return (
    <>
      <Variables title={t('variables.local')} rows={page.items.map(rowOf)} editable={editable} />
      <Rest shown={page.items.length} of={page.page} more={found.more} />
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
      <Rest shown={page.items.length} of={page.page} more={found.more} />
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
  selected,
  onSelect,
  name,
}: InspectorProps) {
  const key = now.instance.processInstanceKey;
  const past = view !== null;
  const waits = useResource(selected ? `waits ${key} ${selected}` : '', (abort) => loadWaits(key, selected!, abort), [
    `instance:${key}`,
  ]).data.value;
  const elements = selected ? (waits?.elements ?? []) : [];
  const scopes = new Set(
    past
      ? [...view.elements.values()].filter((e) => e.id === selected).map((e) => e.key)
      : elements.map((e) => e.elementInstanceKey),
  );
  const incidents = now.incidents.filter(
    (incident) => !selected || incident.elementId === selected || scopes.has(incident.elementInstanceKey),
  );
  const all = view ? [...view.variables.values()] : now.variables.map(rowOf);
  const local = all.filter((row) => scopes.has(row.scope));
  const global = all.filter((row) => row.scope === key);
  // Of a loop, the iterations have variables of their own: one of them is chosen.
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
        : incidents.map((incident) => (
            <IncidentCard key={incident.incidentKey} now={now} incident={incident} past={past} />
          ))}
      {!past && <Rest shown={now.incidents.length} of={now.incidentPage} />}
      {!past && waits && <WaitCards waits={waits} instance={key} />}
      {!past && <AdHocCards of={adHocs} selected={selected} name={name} />}
      {!past && <TaskDecisions instance={key} elements={elements} />}
      {selected && <Activations view={history} selected={selected} name={name} />}
      {compensation && (
        <Compensation
          key={selected}
          instance={key}
          model={compensation}
          selected={selected}
          live={editable !== null}
          view={history}
          name={name}
        />
      )}
      {scope && <Local key={scope} scope={scope} instance={key} editable={editable} />}
      {local.length > 0 && <Variables title={t('variables.local')} rows={local} editable={editable} />}
      <Variables title={t('variables')} rows={global} editable={editable} />
      {!past && <Rest shown={global.length} of={now.variablePage} />}
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
