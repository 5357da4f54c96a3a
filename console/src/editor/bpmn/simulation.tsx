// A run of the model with test data, by the server's simulation: each step is shown on the diagram, and what was never reached.
import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Problem, send } from '../../lib/api.ts';
import { number, t } from '../../lib/i18n.ts';
import { variablesOf } from '../../lib/json.ts';
import { EVALUATE } from '../../lib/session.ts';
import { Act } from '../../parts/act.tsx';
import { JsonArea } from '../../parts/json_area.tsx';
import { ProblemBox } from '../../parts/problem.tsx';
import type { ProcessModeler } from '../kinds.ts';
import type { Source } from '../validation.ts';

type Step = { what: string; entered?: string[] };
type Report = {
  state: string;
  steps: Step[];
  variables: Record<string, unknown>;
  waitsFor: string[];
  incidents: string[];
  notReached: string[];
  stopped?: string;
};

const enteredIn = (steps: readonly Step[]): Set<string> => new Set(steps.flatMap((step) => step.entered ?? []));

/** The steps, of which one is chosen: the diagram shows what was entered before it, and by it. */
function Steps({ report, modeler }: { report: Report; modeler: ProcessModeler }) {
  const { steps } = report;
  const at = useSignal(steps.length - 1);
  useEffect(() => {
    modeler.trace(enteredIn(steps.slice(0, at.value)), enteredIn(steps.slice(at.value, at.value + 1)));
  }, [at.value]);
  useEffect(() => () => modeler.trace(new Set(), new Set()), []);
  const go = (to: number): void => {
    at.value = Math.max(0, Math.min(steps.length - 1, to));
  };
  return (
    <>
      <div class="row">
        <button type="button" disabled={at.value === 0} onClick={() => go(at.value - 1)}>
          {t('trial.back')}
        </button>
        <button type="button" disabled={at.value === steps.length - 1} onClick={() => go(at.value + 1)}>
          {t('trial.next')}
        </button>
        <span class="dim">{t('trial.at', { n: number(at.value + 1), of: number(steps.length) })}</span>
      </div>
      <ol class="messages">
        {steps.map((step, i) => (
          <li key={i} aria-current={i === at.value ? 'step' : undefined}>
            <button type="button" class="link" onClick={() => go(i)}>
              {step.what}
            </button>
          </li>
        ))}
      </ol>
    </>
  );
}

function Outcome({ report, modeler }: { report: Report; modeler: ProcessModeler }) {
  const reached = enteredIn(report.steps).size;
  return (
    <>
      <p>
        <b class={report.incidents.length || report.stopped ? 'bad' : 'ok'}>{report.stopped ?? report.state}</b>{' '}
        {t('trial.coverage', { n: number(reached), of: number(reached + report.notReached.length) })}
      </p>
      {report.incidents.length > 0 && (
        <ul class="messages">
          {report.incidents.map((incident, i) => (
            <li key={i} class="bad">
              {incident}
            </li>
          ))}
        </ul>
      )}
      {report.waitsFor.length > 0 && <p class="wait">{t('trial.waits', { what: report.waitsFor.join(', ') })}</p>}
      {report.notReached.length > 0 && (
        <p class="dim">
          {t('trial.missed')}{' '}
          {report.notReached.map((id) => (
            <span key={id}>
              <button type="button" class="link" onClick={() => modeler.select(id)}>
                {id}
              </button>{' '}
            </span>
          ))}
        </p>
      )}
      <Steps report={report} modeler={modeler} />
      <details>
        <summary>{t('variables')}</summary>
        <pre class="json box" tabIndex={0}>
          {JSON.stringify(report.variables, null, 2)}
        </pre>
      </details>
    </>
  );
}

type Found = { report: Report; n: number } | { problem: Problem };

async function simulated(source: Source, given: Record<string, unknown>, n: number): Promise<Found> {
  const body = { ...given, resources: [{ name: source.name, content: source.content }] };
  try {
    return { report: (await send<Report>({ method: 'POST', path: '/v2/simulations', body })).body, n };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { problem: error };
  }
}

/** `data`: the test data, which stay when this is closed. */
export function Simulation({
  source,
  modeler,
  data,
}: {
  source: () => Promise<Source>;
  modeler: ProcessModeler;
  data: { variables: Signal<string>; answers: Signal<string> };
}) {
  const found = useSignal<Found | null>(null);
  const busy = useSignal(false);
  const runs = useSignal(0);
  const variables = variablesOf(data.variables.value);
  const answers = variablesOf(data.answers.value);
  const run = async (): Promise<void> => {
    busy.value = true;
    runs.value += 1;
    try {
      found.value = await simulated(await source(), { ...answers.value, variables: variables.value }, runs.value);
    } finally {
      busy.value = false;
    }
  };
  const shown = found.value;
  return (
    <section class="stack" aria-label={t('trial.title')}>
      <JsonArea label={t('variables.json')} text={data.variables} rows={2} problem={variables.problem} />
      <JsonArea
        label={t('trial.answers')}
        text={data.answers}
        rows={2}
        placeholder='{"jobs": {"check-stock": {"variables": {"inStock": true}}}, "waitFor": []}'
        problem={answers.problem}
      />
      <div class="row">
        <Act
          need={EVALUATE}
          class="primary"
          disabled={busy.value || !variables.value || !answers.value}
          onClick={() => void run()}
        >
          {t('trial.run')}
        </Act>
      </div>
      <div aria-live="polite">
        {shown && 'problem' in shown && <ProblemBox problem={shown.problem} />}
        {shown && 'report' in shown && <Outcome key={shown.n} report={shown.report} modeler={modeler} />}
      </div>
    </section>
  );
}
