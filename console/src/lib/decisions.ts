// What pages of decisions read.
import { ifAllowed, Problem, search } from './api.ts';
import { modelOf } from './models.ts';
import type { DecisionDefinition, DecisionInstance, Page } from './shapes.ts';

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
