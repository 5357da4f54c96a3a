// A user task whose change waits for a task listener: which one, since when, and what to do if it has failed.
import { search } from '../lib/api.ts';
import { t } from '../lib/i18n.ts';
import { useResource } from '../lib/resource.ts';
import { href } from '../lib/router.ts';
import type { Job, UserTask } from '../lib/shapes.ts';
import { ago } from '../lib/time.ts';
import { ErrorText } from '../parts/error_text.tsx';

/** The states of a task while its listeners decide. */
export const DECIDING = ['CREATING', 'ASSIGNING', 'UPDATING', 'COMPLETING', 'CANCELING'];
const OPEN = ['CREATED', 'FAILED', 'RETRIES_UPDATED', 'TIMED_OUT'];

async function loadListener(task: UserTask, abort: AbortSignal): Promise<Job | null> {
  const found = await search<Job>(
    'jobs',
    {
      filter: { elementInstanceKey: task.elementInstanceKey, kind: 'TASK_LISTENER', state: { $in: OPEN } },
      page: { limit: 1 },
    },
    abort,
  );
  return found.items[0] ?? null;
}

export function ListenerWait({ task }: { task: UserTask }) {
  const waits = DECIDING.includes(task.state);
  const job = useResource(
    waits ? `listener ${task.userTaskKey} ${task.state}` : '',
    (abort) => loadListener(task, abort),
    [`instance:${task.processInstanceKey}`, 'jobs'],
  ).data.value;
  if (!waits || !job) return null;
  const since = job.creationTime ? ago(job.creationTime) : '?';
  return (
    <div class={job.retries ? 'wait' : 'incident'} role="note">
      <p>{t('listener.waits', { type: job.type, event: task.state.toLowerCase(), since })}</p>
      {job.errorMessage && <ErrorText of={job.errorMessage} />}
      <p>
        {job.retries ? (
          t('listener.retries', { n: job.retries })
        ) : (
          <a href={href(`/instances/${task.processInstanceKey}`, { element: task.elementId })}>
            {t('listener.incident')}
          </a>
        )}
      </p>
    </div>
  );
}
