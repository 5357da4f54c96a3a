// Multi-instance elements of a model: what an iteration works on.

/** The ids of multi-instance elements → the name of the variable with the item of an iteration; null without one. */
export function loopsIn(xml: string): ReadonlyMap<string, string | null> {
  const found = new Map<string, string | null>();
  for (const loop of new DOMParser().parseFromString(xml, 'text/xml').querySelectorAll('*')) {
    if (loop.localName !== 'multiInstanceLoopCharacteristics') continue;
    const id = loop.parentElement?.getAttribute('id');
    const own = [...loop.querySelectorAll('*')].find(({ localName }) => localName === 'loopCharacteristics');
    if (id) found.set(id, own?.getAttribute('inputElement') ?? null);
  }
  return found;
}
