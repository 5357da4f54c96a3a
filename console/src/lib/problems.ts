// The problems of a deployment: one line each, `'order.bpmn' line 20 element 'work': what is wrong`.
export type Located = { file: string; line: string | null; element: string | null; text: string };

const LINE = /^'(.+?)'(?: line (\d+))?(?: element '(.+?)')?: (.*)$/;

export function problemsOf(detail: string): Located[] {
  return detail
    .split('\n')
    .map((line) => LINE.exec(line))
    .filter((found) => found !== null)
    .map((found) => ({ file: found[1]!, line: found[2] ?? null, element: found[3] ?? null, text: found[4]! }));
}
