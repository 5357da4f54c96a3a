// The data that pages of decisions read.
import { get, ifAllowed, Problem, search } from './api.ts';
import { counted } from './counts.ts';
import { number } from './i18n.ts';
import { modelOf } from './models.ts';
import type {
  DecisionDefinition,
  DecisionInstance,
  EvaluationCount,
  Page,
  RuleCounts,
  SearchRequest,
} from './shapes.ts';

/** All versions of a decision, the newest first. */
export const decisionVersions = (id: string, abort?: AbortSignal): Promise<Page<DecisionDefinition>> =>
  search<DecisionDefinition>(
    'decision-definitions',
    { filter: { decisionDefinitionId: id }, sort: [{ field: 'version', order: 'DESC' }], page: { limit: 1000 } },
    abort,
  );

/** The XML of the file that has a decision; null if the user may not see it, or it was deleted. */
export async function decisionFile(key: string): Promise<string | null> {
  try {
    return await ifAllowed(modelOf(key, 'decision-definitions'));
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return null;
    throw error;
  }
}

/** The process instance of an evaluation; null if a request asked for it. The API tells -1 then. */
export const instanceOf = ({ processInstanceKey: key }: { processInstanceKey: string | null }): string | null =>
  key === '-1' ? null : key;

const numberIn = ({ decisionEvaluationInstanceKey: key }: { decisionEvaluationInstanceKey: string }): number =>
  Number(key.split('-')[1]);

/** The decision instances of an evaluation in their order, without values; at most 1,000. */
export async function evaluationOf(key: string, abort?: AbortSignal): Promise<DecisionInstance[]> {
  const { items } = await search<DecisionInstance>(
    'decision-instances',
    { filter: { decisionEvaluationKey: key }, page: { limit: 1000 } },
    abort,
  );
  return items.sort((a, b) => numberIn(a) - numberIn(b));
}

export type Counted = DecisionDefinition & { count: EvaluationCount | null };

/** A page of decisions, each with its evaluations if the user may see them. */
export async function countedDecisions(body: SearchRequest, abort: AbortSignal): Promise<Page<Counted>> {
  const page = await search<DecisionDefinition>('decision-definitions', body, abort);
  const asked = { decisionDefinitionKeys: page.items.map((each) => each.decisionDefinitionKey) };
  const found = await ifAllowed(
    counted<EvaluationCount & { decisionDefinitionKey: string }>(
      'decision-definitions/statistics/decision-instances',
      asked,
      abort,
    ),
  );
  const counts = new Map(found?.map((each) => [each.decisionDefinitionKey, each]));
  return {
    ...page,
    items: page.items.map((each) => ({ ...each, count: counts.get(each.decisionDefinitionKey) ?? null })),
  };
}

/** The number of matches of each rule of a version; null if the user may not see it. */
export const ruleCounts = (key: string, abort: AbortSignal): Promise<RuleCounts | null> =>
  ifAllowed(get<RuleCounts>(`/v2/decision-definitions/${key}/statistics/rules`, abort));

/** The number of decision instances that were looked at, with a + if there are others. */
export const lookedAt = ({ decisionInstances, hasMore }: EvaluationCount): string =>
  number(decisionInstances) + (hasMore ? '+' : '');
