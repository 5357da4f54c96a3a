// The things that models tell of ad-hoc sub-processes and agents. Their inner instances are no elements of the diagram.

export const INNER = '#innerInstance';

/** The id of an ad-hoc sub-process, if `id` is that of its inner instances. */
export const aroundInner = (id: string): string | null => (id.endsWith(INNER) ? id.slice(0, -INNER.length) : null);

/** Whether a model has agents that the server itself works. */
export const hasAgents = (xml: string | undefined): boolean => xml?.includes('"io.camunda.agenticai:aiagent') ?? false;
