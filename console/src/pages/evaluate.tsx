// Evaluate a decision with values for what it needs. The evaluation is kept as a decision instance.
import { type Signal, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { Evaluated, Path } from '../decisions/evaluated.tsx';
import { asked, type Graph, type Node } from '../decisions/model.ts';
import { argument, type Command, perform, variablesOption } from '../lib/commands.ts';
import { t } from '../lib/i18n.ts';
import { parsed, variablesOf } from '../lib/json.ts';
import { EVALUATE_DECISION } from '../lib/session.ts';
import type { DecisionDefinition, Evaluation } from '../lib/shapes.ts';
import { lackOf } from '../parts/act.tsx';
import { CopyCommands } from '../parts/copy_commands.tsx';
import { JsonArea } from '../parts/json_area.tsx';
import { tenantOf } from '../parts/tenant.tsx';

type Asked = Pick<Node, 'variable' | 'type'>;
/** Types whose values are texts in JSON, written without quotation marks. */
const TEXTS = /^(?:feel:)?(?:string|date|time|dateTime|date and time|dayTimeDuration|yearMonthDuration|.* duration)$/i;

/** The value that somebody typed: a text if the type is one, else JSON, else a text. */
function givenValue(typed: string, type: string): unknown {
  const found = parsed(typed);
  const isText = TEXTS.test(type) && typeof found.value !== 'string';
  return isText || found.problem !== null ? typed : found.value;
}

function commandOf(definition: DecisionDefinition, latest: boolean, variables: Record<string, unknown>): Command {
  const tenant = tenantOf(definition.tenantId);
  const isPlain = latest && !tenant.tenantId;
  return {
    method: 'POST',
    path: '/v2/decision-definitions/evaluation',
    body: { decisionDefinitionKey: definition.decisionDefinitionKey, variables, ...tenant },
    ...(isPlain && { cli: `evaluate ${argument(definition.decisionDefinitionId)}${variablesOption(variables)}` }),
  };
}

function Outcome({ graph, of }: { graph: Graph; of: Evaluation }) {
  const last = of.evaluatedDecisions.at(-1);
  const failed = of.failureMessage !== null;
  return (
    <div aria-live="polite" class="outcome">
      {last ? (
        <>
          {failed && <h2>{last.decisionDefinitionName}</h2>}
          <Evaluated
            graph={graph}
            of={last}
            name={last.decisionDefinitionName}
            output={of.output}
            failure={of.failureMessage}
          />
          <Path
            decisions={of.evaluatedDecisions.map((each) => ({
              ...each,
              state: failed && each === last ? 'FAILED' : 'EVALUATED',
              result: each.output,
              evaluationFailure: failed && each === last ? of.failureMessage : null,
            }))}
          />
        </>
      ) : (
        <p class="problem">{of.failureMessage}</p>
      )}
    </div>
  );
}

type EvaluateProps = {
  definition: DecisionDefinition;
  latest: boolean;
  graph: Graph;
  outcome: Signal<Evaluation | null>;
};

export function Evaluate({ definition, latest, graph, outcome }: EvaluateProps) {
  const fields = useMemo(() => asked(graph, definition.decisionDefinitionId), [graph]);
  const typed = useSignal<Record<string, string>>({});
  const more = useSignal('');
  const busy = useSignal(false);
  const others = variablesOf(more.value);
  const given = fields
    .filter(({ variable }) => typed.value[variable])
    .map(({ variable, type }) => [variable, givenValue(typed.value[variable]!, type)] as const);
  const command = commandOf(definition, latest, { ...others.value, ...Object.fromEntries(given) });
  const lack = lackOf(EVALUATE_DECISION, definition.decisionDefinitionId);
  const submit = async (event: Event) => {
    event.preventDefault();
    busy.value = true;
    outcome.value = (await perform<Evaluation>(t('decision.evaluate'), command))?.body ?? null;
    busy.value = false;
  };
  const field = ({ variable, type }: Asked) => (
    <label class="field" key={variable}>
      <span>
        {variable} {type && <small>{type}</small>}
      </span>
      <input
        autocomplete="off"
        value={typed.value[variable] ?? ''}
        onInput={(event) => {
          typed.value = { ...typed.value, [variable]: event.currentTarget.value };
        }}
      />
    </label>
  );
  return (
    <>
      <form class="stack narrow box" aria-label={t('decision.evaluate')} onSubmit={submit}>
        {fields.map(field)}
        <JsonArea
          label={t('decision.more')}
          text={more}
          rows={3}
          placeholder='{"limits": [10, 20]}'
          problem={others.problem}
        />
        <CopyCommands commands={[command]} />
        {lack && <p class="problem">{lack}</p>}
        <div class="row">
          <button type="submit" class="primary" disabled={busy.value || lack !== null || others.problem !== null}>
            {t('decision.evaluate')}
          </button>
        </div>
      </form>
      {outcome.value && <Outcome graph={graph} of={outcome.value} />}
    </>
  );
}
