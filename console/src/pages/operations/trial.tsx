// Buttons that ask what a command would do: with one instance, or with all that a batch operation selects.
import type { ComponentChildren } from 'preact';
import type { Command } from '../../lib/commands.ts';
import { number, t } from '../../lib/i18n.ts';
import { dryRunOf, type Forecast, forecastOf, type Reason } from '../../lib/operations/dry_run.ts';
import { href } from '../../lib/router.ts';
import { ProblemBox } from '../../parts/problem.tsx';
import { useAsked } from './asked.ts';
import { Preview } from './preview.tsx';
import { Problems } from './problems.tsx';

/** The preview of a command on an instance. */
export function Trial({ command, name }: { command: Command; name: (id: string) => string }) {
  const { ask, busy, failed, answer } = useAsked(command, dryRunOf);
  return (
    <>
      <button type="button" disabled={busy} onClick={() => void ask()}>
        {t('preview')}
      </button>
      {failed && <ProblemBox problem={failed} />}
      {answer && <Problems of={answer.problems} />}
      {answer?.problems.length === 0 && <Preview of={answer} name={name} />}
    </>
  );
}

/** `kind`: of what would happen to them. */
function Reasons({ of, kind }: { of: readonly Reason[]; kind: 'wouldSkip' | 'wouldFail' | 'notTried' }) {
  return of.map(({ reason, count, exampleKeys }) => (
    <li key={reason}>
      <b>{t(`forecast.${kind}`, { n: number(count) })}</b> {reason}{' '}
      {exampleKeys.map((key) => (
        <a key={key} href={href(`/instances/${key}`)}>
          <code>{key}</code>{' '}
        </a>
      ))}
      {count > exampleKeys.length && '…'}
    </li>
  ));
}

function Outcome({ of }: { of: Forecast }) {
  const { total, wouldSucceed, stoppedAt } = of;
  return (
    <section aria-label={t('forecast')}>
      <p role="status">{t('forecast.succeed', { n: number(wouldSucceed), total: number(total) })}</p>
      <ul class="effects">
        <Reasons of={of.wouldFail} kind="wouldFail" />
        <Reasons of={of.wouldSkip} kind="wouldSkip" />
        <Reasons of={of.notTried} kind="notTried" />
      </ul>
      {stoppedAt && <p class="dim">{t(`forecast.${stoppedAt.bound}`, { n: number(stoppedAt.value) })}</p>}
    </section>
  );
}

type ForeseeProps = { command: Command; disabled?: boolean; children?: ComponentChildren };

/** The forecast of a batch operation. `children`: buttons beside its own. */
export function Foresee({ command, disabled = false, children }: ForeseeProps) {
  const { ask, busy, failed, answer } = useAsked(command, forecastOf);
  return (
    <>
      <div class="row">
        <button type="button" disabled={disabled || busy} onClick={() => void ask()}>
          {t('forecast')}
        </button>
        {children}
      </div>
      {failed && <ProblemBox problem={failed} />}
      {answer && <Outcome of={answer} />}
    </>
  );
}
