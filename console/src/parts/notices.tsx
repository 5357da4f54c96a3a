// Outcomes of commands: done at which position and how fast, or the problem.
import { dismiss, notices, shortPosition } from '../lib/commands.ts';
import { t } from '../lib/i18n.ts';
import { duration } from '../lib/time.ts';
import { explanation } from './problem.tsx';

export function Notices() {
  return <div class="notices" role="status" aria-live="polite">
    {notices.value.map(({ id, label, position, ms, problem }) => <div key={id} class={problem ? 'notice bad' : 'notice'}>
      <p><b>{label}</b>{' '}{problem ? explanation(problem) : position ? t('doneAt', { position: shortPosition(position), time: duration(ms) }) : t('done', { time: duration(ms) })}</p>
      <button type="button" class="quiet" aria-label={t('close')} onClick={() => dismiss(id)}>×</button>
    </div>)}
  </div>;
}
