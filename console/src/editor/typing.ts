// Text that the libraries of the editors take a moment after somebody has typed it.

/**
 * A wait until all that was typed in these elements is in the model.
 * `takenMs`: the longest time for which the library of the editor holds a text back.
 */
export function typingIn(places: readonly HTMLElement[], takenMs: number): () => Promise<void> {
  let typedAt = Number.NEGATIVE_INFINITY;
  const typed = (): void => {
    typedAt = performance.now();
  };
  for (const place of places)
    for (const kind of ['input', 'keydown']) place.addEventListener(kind, typed, { capture: true });
  return async () => {
    const left = typedAt + takenMs - performance.now();
    if (left > 0) await new Promise((resolve) => window.setTimeout(resolve, left));
  };
}
