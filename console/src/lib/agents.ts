// AI agents: their calls of models, with tokens and money.
import { get } from './api.ts';
import { language, number, t } from './i18n.ts';
import type { Page, SearchRequest } from './shapes.ts';

export type Amount = { cost: number | null; currency: string | null };
/** `cost`: null if the model had no price. */
export type AgentCall = Amount & {
  agentCallId: string;
  elementId: string;
  endDate: string;
  turn: number;
  durationMs: number;
  model: string;
  outcome: string;
  inputTokens: number | null;
  outputTokens: number | null;
  cachedTokens: number | null;
  toolsCalled: string[];
};
/** Sums. There is one for each currency. */
export type CallSums = Amount & {
  elementId: string;
  calls: number;
  failed: number;
  inputTokens: number;
  outputTokens: number;
  cachedTokens: number;
};
export type ModelSums = CallSums & { model: string; processInstances: number };
export type AgentCalls = Page<AgentCall> & { sums: CallSums[] };

/** A page of the calls of an instance, or of one of its elements: the oldest first. Raises Problem. */
export async function callsOf(
  instance: string,
  elementId: string | null,
  page: SearchRequest['page'],
  abort: AbortSignal,
): Promise<AgentCalls> {
  const values = Object.entries({ ...page, elementId }).filter(([, value]) => value !== null);
  const found = await get<{ items: AgentCall[]; next: string | null; elements: CallSums[] }>(
    `/v2/process-instances/${instance}/agent-calls?${new URLSearchParams(values as [string, string][])}`,
    abort,
  );
  const sums = found.elements.filter((one) => elementId === null || one.elementId === elementId);
  const totalItems = sums.reduce((sum, { calls }) => sum + calls, 0);
  const info = { totalItems, hasMoreTotalItems: false, startCursor: null, endCursor: found.next };
  return { items: found.items, page: info, sums };
}

/** The sums of a process, all of its versions, in these days. Raises Problem. */
export async function modelSumsOf(
  processDefinitionKey: string,
  startTime: string,
  days: number,
  abort: AbortSignal,
): Promise<ModelSums[]> {
  const query = new URLSearchParams({ startTime, days: `${days}` });
  const path = `/v2/process-definitions/${processDefinitionKey}/statistics/agent-calls?${query}`;
  return (await get<{ items: ModelSums[] }>(path, abort)).items;
}

/** Money in the operator's currency, which may have any name. A call can cost far less than a cent. */
export const money = ({ cost, currency }: Amount): string =>
  cost === null
    ? t('agents.unpriced')
    : `${cost.toLocaleString(language.value, { maximumFractionDigits: 6 })} ${currency ?? ''}`.trimEnd();

/** Tokens in words; empty if the provider did not report them. */
export function tokens(of: Pick<AgentCall, 'inputTokens' | 'outputTokens' | 'cachedTokens'>): string {
  if (of.inputTokens === null) return '';
  const words = t('agents.tokens', { in: number(of.inputTokens), out: number(of.outputTokens ?? 0) });
  return of.cachedTokens ? `${words} · ${t('agents.cached', { n: number(of.cachedTokens) })}` : words;
}
