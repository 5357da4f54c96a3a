// The problems of a deployment: one line each, `'order.bpmn' line 20 element 'work': what is wrong`.
export type Located = { file: string; line: string | null; element: string | null; text: string };

const LINE = /^'(.+?)'(?: line (\d+))?(?: element '(.+?)')?: (.*)$/;

/** The place that a line names, and what is wrong there; null if it names none. */
function placed(line: string): Located | null {
  const found = LINE.exec(line);
  return found && { file: found[1]!, line: found[2] ?? null, element: found[3] ?? null, text: found[4]! };
}

/** A line of a verdict: with its place, or as it is. */
export const located = (line: string): Located => placed(line) ?? { file: '', line: null, element: null, text: line };

export const problemsOf = (detail: string): Located[] =>
  detail
    .split('\n')
    .map(placed)
    .filter((found) => found !== null);
