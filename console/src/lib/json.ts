// JSON that people read and write.

/** The value of JSON text, or why it is not valid. */
export function parsed(text: string): { value: unknown; problem: null } | { value: undefined; problem: string } {
  try {
    return { value: JSON.parse(text), problem: null };
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
  const isObject = typeof found.value === 'object' && found.value !== null && !Array.isArray(found.value);
  return isObject
    ? { value: found.value as Record<string, unknown>, problem: null }
    : { value: undefined, problem: '{ "name": value }' };
}

export const pretty = (text: string): string => {
  const found = parsed(text);
  return found.problem === null ? JSON.stringify(found.value, null, 2) : text;
};
