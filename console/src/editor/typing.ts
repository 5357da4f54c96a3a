// Text that the libraries of the editors take a moment after somebody has typed it.

let typedAt = Number.NEGATIVE_INFINITY;
const typed = (): void => {
  typedAt = performance.now();
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
