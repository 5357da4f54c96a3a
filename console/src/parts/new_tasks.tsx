// Notice of new work: the number in front of the title and, if the user wants that in this browser, notifications.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { search } from '../lib/api.ts';
import { number, t } from '../lib/i18n.ts';
import { following } from '../lib/live.ts';
import { type Found, keep, knownOf, newIn, newTasks } from '../lib/new_tasks.ts';
import { useResource } from '../lib/resource.ts';
import { BASE, go, href, path } from '../lib/router.ts';
import { isOpen, may, me, READ_TASK, rightsAsked } from '../lib/session.ts';
import { notifications } from '../lib/settings.ts';
import type { User, UserTask } from '../lib/shapes.ts';

const MOST = 50;
const HIDDEN_MS = 60_000;
const NAMED = 3;

/** The work for the user: own tasks, and those that somebody of their groups should take. Without authentication all that nobody has. */
function filtersOf({ username, groups }: User): Record<string, unknown>[] {
  const free = { state: 'CREATED', assignee: { $exists: false } };
  if (isOpen.value) return [free];
  return [
    { state: 'CREATED', assignee: username },
    { ...free, candidateUser: username },
    ...(groups.length ? [{ ...free, candidateGroup: { $in: groups } }] : []),
  ];
}

const load = (user: User, abort: AbortSignal): Promise<Found[]> =>
  Promise.all(
    filtersOf(user).map(async (filter) => {
      const sort = [{ field: 'creationDate', order: 'DESC' } as const];
      const { items, page } = await search<UserTask>('user-tasks', { filter, sort, page: { limit: MOST } }, abort);
      return { tasks: items, page };
    }),
  );

const byKey = (tasks: readonly UserTask[]): Map<string, UserTask> =>
  new Map(tasks.map((task) => [task.userTaskKey, task]));

const nameOf = (task: UserTask): string => task.name ?? task.elementId;

/** A notification that leads to the task, or to the list. Raises TypeError where a page can show none, as on many phones. */
function show(title: string, body: string, to: string): void {
  const shown = new Notification(title, { body, tag: 'vivero.tasks', icon: `${BASE}/icon.svg` });
  shown.onclick = () => {
    window.focus();
    go(to);
    shown.close();
  };
}

function tell(tasks: readonly UserTask[]): void {
  const [first, ...others] = tasks;
  if (!first) return;
  if (others.length) {
    const names = [...new Set(tasks.map(nameOf))].slice(0, NAMED).join(', ');
    show(t('notify.several', { n: number(tasks.length) }), names, href('/tasks'));
  } else {
    const body = [first.processName ?? first.processDefinitionId, first.businessId].filter(Boolean).join(' · ');
    show(nameOf(first), body, href(`/tasks/${first.userTaskKey}`));
  }
}

const isOn = (): boolean =>
  notifications.value === 'on' && 'Notification' in window && Notification.permission === 'granted';

/** Count what is new, tell what nobody has told yet, and keep both. The list in sight has nothing new. */
function look(user: string, found: readonly Found[]): void {
  const all = byKey(found.flatMap(({ tasks }) => tasks));
  const keys = [...all.keys()];
  const known = knownOf(user);
  if (!known || (!document.hidden && `${path.peek()}/`.startsWith('/tasks/'))) {
    const newest = [...all.values()].reduce(
      (last, { creationDate }) => (creationDate > last ? creationDate : last),
      '',
    );
    keep(user, { seen: keys, told: keys, newest });
    newTasks.value = 0;
    return;
  }
  const fresh = [...byKey(found.flatMap((one) => newIn(one, known))).values()];
  newTasks.value = fresh.length;
  if (isOn()) tell(fresh.filter(({ userTaskKey }) => !known.told.includes(userTaskKey)));
  keep(user, { ...known, seen: known.seen.filter((key) => all.has(key)), told: keys });
}

/** Shows nothing itself. A page that is out of sight gets no hints, so it asks each minute. */
export function NewTasks() {
  const user = me.value;
  const isAsked = user && rightsAsked.value && may(READ_TASK);
  const found = useResource(isAsked ? `new tasks ${user.username}` : '', (abort) => load(user!, abort), ['tasks']);
  const reload = found.reload;
  useEffect(() => {
    const timer = window.setInterval(() => {
      if (document.hidden && following.peek()) reload();
    }, HIDDEN_MS);
    return () => window.clearInterval(timer);
  }, []);
  useEffect(() => {
    if (user && found.data.value) look(user.username, found.data.value);
  }, [user?.username, found.data.value, path.value]);
  return null;
}

/** Whether this browser shows notifications. It asks the user only after a click here. */
export function NotifyChoice() {
  const problem = useSignal<'notify.denied' | 'notify.unable' | null>(null);
  const isPressed = isOn();
  if (!('Notification' in window)) return null;
  const choose = async () => {
    problem.value = null;
    if (isPressed) {
      notifications.value = 'off';
      return;
    }
    if ((await Notification.requestPermission()) !== 'granted') {
      problem.value = 'notify.denied';
      return;
    }
    try {
      show(t('notify.on'), t('notify.like'), href('/tasks'));
      notifications.value = 'on';
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      problem.value = 'notify.unable';
    }
  };
  return (
    <>
      {problem.value && (
        <span class="invalid" role="alert">
          {t(problem.value)}
        </span>
      )}
      <button type="button" aria-pressed={isPressed} onClick={() => void choose()}>
        {t('notify')}
      </button>
    </>
  );
}
