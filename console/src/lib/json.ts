// JSON that people read and write.

declare global {
  interface JSON {
    rawJSON?(text: string): unknown;
    isRawJSON?(value: unknown): boolean;
  }
}

type Reviver = (name: string, value: unknown, context?: { source?: string }) => unknown;
const revived = JSON.parse as (text: string, reviver: Reviver) => unknown;

/** Many digits, or an exponent beyond those of a double: `1e400`. */
const LONG_NUMBER = /(^|[^"\d.])[\d.]{16}|\d[eE][+-]?\d{3}/;

/** Numbers that lose nothing stay numbers, also those that JavaScript spells in another way: `100.0`. */
const kept: Reviver = (_, value, context) => {
  const source = typeof value === 'number' && context?.source;
  return source && LONG_NUMBER.test(source) && `${value}` !== source ? JSON.rawJSON!(source) : value;
};

/** The value of JSON text. A number with more digits than JavaScript's becomes what `JSON.stringify` writes as it was. */
export const exact = (text: string): unknown =>
  JSON.rawJSON && LONG_NUMBER.test(text) ? revived(text, kept) : JSON.parse(text);

type Values = Record<string, unknown>;
const isObject = (value: unknown): value is Values => typeof value === 'object' && value !== null;

/** `now`, in which each number that is still the one of `before`, rounded to a double, has all digits of that again. */
export function restored(now: unknown, before: unknown): unknown {
  if (JSON.isRawJSON?.(before)) return now === JSON.parse(JSON.stringify(before)) ? before : now;
  if (Array.isArray(now) && Array.isArray(before)) return now.map((one, i) => restored(one, before[i]));
  if (Array.isArray(now) || !isObject(now) || !isObject(before)) return now;
  return Object.fromEntries(Object.entries(now).map(([name, value]) => [name, restored(value, before[name])]));
}

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
