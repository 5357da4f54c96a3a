// The evaluations of a business rule task, each with the way to its decision instance.
import { ifAllowed, search } from '../lib/api.ts';
import { t } from '../lib/i18n.ts';
import { useResource } from '../lib/resource.ts';
import type { DecisionInstance, ElementInstance } from '../lib/shapes.ts';
import { decisionInstanceUrl } from '../lib/urls.ts';
import { State } from '../parts/state.tsx';
import { Time } from '../parts/time.tsx';

const MOST = 200;

/** The last decision of each evaluation of these elements, the newest first: what was asked for, or what failed. */
async function load(instance: string, elements: string[], abort: AbortSignal): Promise<DecisionInstance[]> {
  const found = await ifAllowed(
    search<DecisionInstance>(
      'decision-instances',
      {
        filter: { processInstanceKey: instance, elementInstanceKey: { $in: elements } },
        sort: [{ field: 'decisionEvaluationKey', order: 'DESC' }],
        page: { limit: MOST },
      },
      abort,
    ),
  );
  const last = new Map<string, DecisionInstance>();
  for (const each of found?.items ?? []) {
    const known = last.get(each.decisionEvaluationKey);
    if (!known || each.state === 'FAILED' || each.decisionDefinitionKey === each.rootDecisionDefinitionKey)
      last.set(each.decisionEvaluationKey, each);
  }
  return [...last.values()];
}

export function TaskDecisions({ instance, elements }: { instance: string; elements: ElementInstance[] }) {
  const keys = elements.filter(({ type }) => type === 'BUSINESS_RULE_TASK').map((each) => each.elementInstanceKey);
  const found = useResource(
    keys.length ? `decisions ${instance} ${keys.join()}` : '',
    (abort) => load(instance, keys, abort),
    [`instance:${instance}`],
  ).data.value;
  if (!keys.length || !found?.length) return null;
  return (
    <>
      <h3>{t('nav.decisions')}</h3>
      <table class="small">
        <tbody>
          {found.map((each) => (
            <tr key={each.decisionEvaluationKey}>
              <th scope="row">
                <a href={decisionInstanceUrl(each.decisionEvaluationInstanceKey)}>
                  {each.decisionDefinitionName || each.decisionDefinitionId}
                </a>
              </th>
              <td>
                <State of={each.state} />
              </td>
              <td>
                <Time at={each.evaluationDate} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
