// JSON that people read and write.

declare global {
  interface JSON {
    rawJSON?(text: string): unknown;
  }
}

type Reviver = (name: string, value: unknown, context?: { source?: string }) => unknown;
const revived = JSON.parse as (text: string, reviver: Reviver) => unknown;

const LONG_NUMBER = /(^|[^"\d.])[\d.]{16}/;

/** Numbers that lose nothing stay numbers, also those that JavaScript spells in another way: `100.0`. */
const kept: Reviver = (_, value, context) => {
  const source = typeof value === 'number' && context?.source;
  return source && LONG_NUMBER.test(source) && `${value}` !== source ? JSON.rawJSON!(source) : value;
};

/** The value of JSON text. A number with more digits than JavaScript's becomes what `JSON.stringify` writes as it was. */
export const exact = (text: string): unknown =>
  JSON.rawJSON && LONG_NUMBER.test(text) ? revived(text, kept) : JSON.parse(text);

/** The value of JSON text, or why it is not valid. */
export function parsed(text: string): { value: unknown; problem: null } | { value: undefined; problem: string } {
  try {
    return { value: exact(text), problem: null };
  } catch (error) {
    return { value: undefined, problem: (error as Error).message };
  }
}

/** As `parsed`, for an object of variables. Empty text is no variables. */
export function variablesOf(
  text: string,
): { value: Record<string, unknown>; problem: null } | { value: undefined; problem: string } {
  const found = parsed(text.trim() || '{}');
  if (found.problem !== null) return found;
  return /^\s*({|$)/.test(text)
    ? { value: found.value as Record<string, unknown>, problem: null }
    : { value: undefined, problem: '{ "name": value }' };
}

export const pretty = (text: string): string => {
  const found = parsed(text);
  return found.problem === null ? JSON.stringify(found.value, null, 2) : text;
};
