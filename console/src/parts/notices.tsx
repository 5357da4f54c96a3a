// Outcomes of commands: done at which position and how fast, or the problem.
import { dismiss, keep, notices, shortPosition } from '../lib/commands.ts';
import { t } from '../lib/i18n.ts';
import { href } from '../lib/router.ts';
import { duration } from '../lib/time.ts';
import { CopyCommands } from './copy_commands.tsx';
import { explanation } from './problem.tsx';

export function Notices() {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map(({ id, label, commands, position, ms, problem, batch }) => (
        <div key={id} class={problem ? 'notice bad' : 'notice'}>
          <div>
            <p>
              <b>{label}</b>{' '}
              {problem ? (
                explanation(problem)
              ) : batch ? (
                <a href={href(`/batches/${batch}`)}>{t('begun')}</a>
              ) : position ? (
                t('doneAt', { position: shortPosition(position), time: duration(ms) })
              ) : (
                t('done', { time: duration(ms) })
              )}
            </p>
            {commands.length > 0 && <CopyCommands commands={commands} onToggle={() => keep(id)} />}
          </div>
          <button type="button" class="quiet" aria-label={t('close')} onClick={() => dismiss(id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}
