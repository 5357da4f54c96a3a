// Text that the libraries of the editors take a moment after somebody has typed it.

let typedAt = Number.NEGATIVE_INFINITY;
/** Keys that change no text do not count: one of them may close the tab. */
let changedAt = Number.NEGATIVE_INFINITY;
const typed = (event: Event): void => {
  typedAt = performance.now();
  if (event.type === 'input') changedAt = typedAt;
};
// Anywhere: the large editor of an expression opens outside of the panel of properties.
for (const kind of ['input', 'keydown']) document.addEventListener(kind, typed, { capture: true });

/**
 * A wait until all that was typed is in the model.
 * `takenMs`: the longest time for which the library of the editor holds a text back.
 */
export async function typedIsTaken(takenMs: number): Promise<void> {
  const left = typedAt + takenMs - performance.now();
  if (left > 0) await new Promise((resolve) => window.setTimeout(resolve, left));
}

/** The longest time for which any of the libraries holds a text back. */
const LONGEST_MS = 700;

/** Whether a text may not be in the model yet. */
export const isHeldBack = (): boolean => changedAt + LONGEST_MS > performance.now();
