// A job in words: what it waits for, and what its worker decided.
import { t } from '../lib/i18n.ts';
import type { Job } from '../lib/shapes.ts';
import { ErrorText } from '../parts/error_text.tsx';
import { State } from '../parts/state.tsx';
import { KeyText } from '../parts/time.tsx';

/** The reason why a job waits, in words. `held`: its instance is suspended. */
function waiting(job: Job, held: boolean): string | null {
  if (held && !job.endTime) return t('job.held');
  if (job.state === 'FAILED' && job.retries === 0) return null;
  if (job.deadline && !job.endTime) return t('job.leased', { worker: job.worker || '?' });
  return job.endTime ? null : t('job.waits', { type: job.type });
}

export function JobCard({ job, held }: { job: Job; held: boolean }) {
  const words = waiting(job, held);
  return (
    <dl class="card">
      <dt>{t('job.type')}</dt>
      <dd>
        <code>{job.type}</code>{' '}
        <State of={job.deadline && !job.endTime && job.state === 'CREATED' ? 'LEASED' : job.state} />
      </dd>
      {words && (
        <>
          <dt />
          <dd class="wait">{words}</dd>
        </>
      )}
      {job.kind === 'TASK_LISTENER' && (
        <>
          <dt>{t('listener')}</dt>
          <dd>{job.listenerEventType.toLowerCase()}</dd>
        </>
      )}
      {job.isDenied && (
        <>
          <dt>{t('listener.denied')}</dt>
          <dd class="message">{job.deniedReason || '–'}</dd>
        </>
      )}
      <dt>{t('job.retries')}</dt>
      <dd>{job.retries}</dd>
      {job.worker && (
        <>
          <dt>{t('job.worker')}</dt>
          <dd>{job.worker}</dd>
        </>
      )}
      {job.errorMessage && (
        <>
          <dt>{t('job.error')}</dt>
          <dd>
            <ErrorText of={job.errorMessage} />
          </dd>
        </>
      )}
      <dt>{t('key')}</dt>
      <dd>
        <KeyText of={job.jobKey} />
      </dd>
    </dl>
  );
}
