// An evaluation of the decision that is edited, with test data, by the server: nothing is deployed, and nothing is kept.
import '../../decisions/decisions.css';
import { type Signal, useSignal } from '@preact/signals';
import { Evaluated } from '../../decisions/evaluated.tsx';
import { type Graph, graphOf } from '../../decisions/model.ts';
import { Problem, send } from '../../lib/api.ts';
import { t } from '../../lib/i18n.ts';
import { variablesOf } from '../../lib/json.ts';
import { EVALUATE } from '../../lib/session.ts';
import { Act } from '../../parts/act.tsx';
import { JsonArea } from '../../parts/json_area.tsx';
import { ProblemBox } from '../../parts/problem.tsx';
import type { DecisionModeler } from '../kinds.ts';
import type { Source } from '../validation.ts';

type Taken = {
  decision: string;
  name: string;
  result: unknown;
  inputs: unknown[];
  matchedRules: { rule: number; outputs: unknown[] }[];
};
type Report = { result: unknown; failure: { decision: string; message: string } | null; decisions: Taken[] };
type Found = { report: Report; graph: Graph } | { problem: Problem };

/** A decision as the pages of kept evaluations have it. */
const evaluated = ({ decision, inputs, matchedRules }: Taken) => ({
  decisionDefinitionId: decision,
  evaluatedInputs: inputs.map((value) => ({ inputName: '', inputValue: JSON.stringify(value) })),
  matchedRules: matchedRules.map(({ rule, outputs }) => ({
    ruleId: '',
    ruleIndex: rule,
    evaluatedOutputs: outputs.map((value) => ({ outputName: '', outputValue: JSON.stringify(value) })),
  })),
});

type Resource = Pick<Source, 'name' | 'content'>;

/** `imported`: files beside the edited one, which replaces a file of its name. */
async function tried(
  { name, content }: Source,
  imported: readonly Resource[],
  decisionId: string,
  variables: Record<string, unknown>,
): Promise<Found> {
  const resources = [{ name, content }, ...imported.filter((one) => one.name !== name)];
  const body = { resources, decisionId, variables };
  try {
    const { body: report } = await send<Report>({ method: 'POST', path: '/v2/simulations', body });
    return { report, graph: graphOf(content) };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { problem: error };
  }
}

function Outcome({ report, graph }: { report: Report; graph: Graph }) {
  return [...report.decisions].reverse().map((each) => (
    <div key={each.decision} role="group" aria-label={each.name}>
      <h2>{each.name}</h2>
      <Evaluated
        graph={graph}
        of={evaluated(each)}
        name={each.name}
        output={JSON.stringify(each.result)}
        failure={report.failure?.decision === each.decision ? report.failure.message : null}
      />
    </div>
  ));
}

type TrialProps = { source: () => Promise<Source>; modeler: DecisionModeler; variables: Signal<string> };

/** The files that the edited one imports. A new choice replaces the one before. */
function Imported({ files }: { files: Signal<Resource[]> }) {
  return (
    <label class="field">
      {t('trial.imported')}
      <input
        type="file"
        accept=".dmn,.xml"
        multiple
        onChange={async (event) => {
          const chosen = [...(event.currentTarget.files ?? [])];
          files.value = await Promise.all(
            chosen.map(async (file) => ({ name: file.name, content: await file.text() })),
          );
        }}
      />
    </label>
  );
}

/** `variables`: the test data, which stay when this is closed. */
export function DecisionTrial({ source, modeler, variables }: TrialProps) {
  const found = useSignal<Found | null>(null);
  const imported = useSignal<Resource[]>([]);
  const busy = useSignal(false);
  const asked = useSignal('');
  const given = variablesOf(variables.value);
  const { shown, decisions } = modeler.views.value;
  const chosen = [asked.value, shown].find((id) => decisions.some((one) => one.id === id)) ?? decisions[0]?.id ?? '';
  const run = async (): Promise<void> => {
    busy.value = true;
    try {
      found.value = await tried(await source(), imported.value, chosen, given.value!);
    } finally {
      busy.value = false;
    }
  };
  const outcome = found.value;
  return (
    <section class="stack" aria-label={t('trial.title')}>
      <label class="field">
        {t('decision')}
        <select
          value={chosen}
          onChange={(event) => {
            asked.value = event.currentTarget.value;
          }}
        >
          {decisions.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <Imported files={imported} />
      <JsonArea label={t('variables.json')} text={variables} rows={2} problem={given.problem} />
      <div class="row">
        <Act
          need={EVALUATE}
          class="primary"
          disabled={busy.value || !given.value || !chosen}
          onClick={() => void run()}
        >
          {t('decision.evaluate')}
        </Act>
      </div>
      <div aria-live="polite">
        {outcome && 'problem' in outcome && <ProblemBox problem={outcome.problem} />}
        {outcome && 'report' in outcome && <Outcome {...outcome} />}
      </div>
    </section>
  );
}
