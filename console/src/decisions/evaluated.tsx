// A decision that was evaluated: the values of its inputs, the rules that matched, its result, and what was wrong.
import { useMemo } from 'preact/hooks';
import { number, t } from '../lib/i18n.ts';
import { pretty } from '../lib/json.ts';
import type { DecisionInstance, EvaluatedInput, MatchedRule } from '../lib/shapes.ts';
import { decisionInstanceUrl } from '../lib/urls.ts';
import { State } from '../parts/state.tsx';
import { Boxed } from './boxed.tsx';
import { type Graph, graphOf, type Logic, logicOf } from './model.ts';

/** The graph in a file, and why there is none. It is made once for each file. */
export function useGraph(xml: string | null | undefined): { graph: Graph | null; failure: string | null } {
  return useMemo(() => {
    try {
      return { graph: xml ? graphOf(xml) : null, failure: null };
    } catch (error) {
      return { graph: null, failure: (error as Error).message };
    }
  }, [xml]);
}

const ONE_RULE = ['UNIQUE', 'ANY'];
const REST = '…';

const outputsOf = (rule: MatchedRule): string[] => rule.evaluatedOutputs.map(({ outputValue }) => outputValue);

/** The hit policy, if more rules matched than it allows, or with other outputs. */
function violated(logic: Logic | null, matched: readonly MatchedRule[]): string | null {
  if (logic?.kind !== 'table' || !ONE_RULE.includes(logic.policy) || matched.length < 2) return null;
  const differ = new Set(matched.map((rule) => JSON.stringify(outputsOf(rule)))).size > 1;
  return logic.policy === 'UNIQUE' || differ ? logic.policy : null;
}

/** Values and rules by their names, which are known without the file. */
function Plain({ inputs, matched }: { inputs: readonly EvaluatedInput[]; matched: readonly MatchedRule[] }) {
  return (
    <table class="boxed">
      <tbody>
        {inputs.map(({ inputName, inputValue }, i) => (
          <tr key={i}>
            <th scope="row">{inputName}</th>
            <td>
              <code>{inputValue}</code>
            </td>
          </tr>
        ))}
        {matched.map((rule, i) => (
          <tr key={`rule ${i}`}>
            <th scope="row">
              {t('rule')} {rule.ruleIndex || REST}
            </th>
            <td>
              <code>{rule.evaluatedOutputs.map((one) => `${one.outputName} = ${one.outputValue}`).join(', ')}</code>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type Taken = Pick<
  DecisionInstance,
  | 'decisionEvaluationInstanceKey'
  | 'decisionDefinitionId'
  | 'decisionDefinitionName'
  | 'state'
  | 'result'
  | 'evaluationFailure'
>;

/** The decisions of an evaluation in their order; the last one is what was asked for, or the one that failed. */
export function Path({ decisions, current }: { decisions: readonly Taken[]; current?: string }) {
  return (
    <>
      <h2>{t('decision.sameEvaluation')}</h2>
      <ol class="path">
        {decisions.map((each) => (
          <li key={each.decisionEvaluationInstanceKey}>
            <a
              href={decisionInstanceUrl(each.decisionEvaluationInstanceKey)}
              aria-current={each.decisionEvaluationInstanceKey === current ? 'page' : undefined}
            >
              {each.decisionDefinitionName || each.decisionDefinitionId}
            </a>{' '}
            <State of={each.state} />
            <code class="cut">{each.evaluationFailure ?? each.result}</code>
          </li>
        ))}
      </ol>
    </>
  );
}

type EvaluatedProps = {
  graph: Graph | null;
  of: { decisionDefinitionId: string; evaluatedInputs?: EvaluatedInput[]; matchedRules?: MatchedRule[] };
  name: string;
  output: string;
  failure: string | null;
};

export function Evaluated({ graph, of, name, output, failure }: EvaluatedProps) {
  const node = graph?.nodes.get(of.decisionDefinitionId);
  const logic = useMemo(() => (node ? logicOf(node) : null), [node]);
  const { evaluatedInputs: inputs = [], matchedRules: matched = [] } = of;
  const rules = matched.filter(({ ruleIndex }) => ruleIndex > 0);
  const policy = violated(logic, rules);
  const known = {
    values: inputs.map(({ inputValue }) => inputValue),
    outputs: new Map(rules.map((rule) => [rule.ruleIndex, outputsOf(rule)])),
  };
  return (
    <>
      {failure !== null && (
        <p class="problem" role="note">
          {failure}
        </p>
      )}
      {policy && (
        <p class="problem" role="note">
          {t('decision.violated', { policy, n: number(rules.length) })}{' '}
          {rules.map(({ ruleIndex }) => number(ruleIndex)).join(', ')}
        </p>
      )}
      {failure === null && (
        <>
          <h2>{t('decision.result')}</h2>
          <pre class="json box" tabIndex={0} role="group" aria-label={t('decision.result')}>
            {pretty(output)}
          </pre>
        </>
      )}
      {rules.length < matched.length && <p class="dim">{t('rule.cut', { n: number(rules.length) })}</p>}
      {node ? <Boxed logic={logic} label={name} known={known} /> : <Plain inputs={inputs} matched={matched} />}
      {!node && <p class="dim">{t('decision.noFile')}</p>}
    </>
  );
}
