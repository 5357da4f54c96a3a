// The focus of somebody who works by keyboard is never lost: if its element disappears, something near it gets the focus.

const FOCUSABLE = 'a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), summary, [tabindex]';
/** Beyond these the search ends: the rest of the page has nothing to do with the element. */
const WHOLE = 'main, dialog, body';

type Step = { within: Element; index: number };

let focused: HTMLElement | null = null;
let steps: Step[] = [];
let byKeyboard = false;

/** The place of an element in each of its ancestors: the nearest first. */
function stepsTo(element: Element): Step[] {
  const found: Step[] = [];
  for (let at = element; at.parentElement; at = at.parentElement)
    found.push({ within: at.parentElement, index: [...at.parentElement.children].indexOf(at) });
  return found;
}

/** The element in these that can have the focus: that which opens a row, else the first, or the last. */
function within(elements: readonly Element[], last = false): HTMLElement | undefined {
  const all = elements.flatMap((one) => [...(one.matches(FOCUSABLE) ? [one] : []), ...one.querySelectorAll(FOCUSABLE)]);
  const seen = all.filter((one) => one.checkVisibility()) as HTMLElement[];
  return last ? seen.at(-1) : seen[0];
}

/** The element that takes the place of a lost one: in the next row, the one before it, or around them. */
function heir(): HTMLElement | undefined {
  for (const { within: place, index } of steps) {
    if (!place.isConnected) continue;
    if (place.matches(WHOLE)) return place as HTMLElement;
    const next = place.children[index] ?? place.lastElementChild;
    const row = next?.querySelector<HTMLElement>('[data-row]');
    const found = row ?? within([...place.children].slice(index)) ?? within([...place.children].slice(0, index), true);
    if (found) return found;
  }
  return undefined;
}

function mend(): void {
  if (!byKeyboard || !focused || document.activeElement !== document.body) return;
  if (focused.isConnected) {
    if (!focused.matches(':disabled') && focused.checkVisibility()) focused.focus(); // a button that was busy
    return;
  }
  if (document.querySelector('main [aria-busy=true], main .loading')) return; // what comes next is not there yet
  const found = heir();
  focused = null;
  found?.focus({ preventScroll: found.matches(WHOLE) });
}

export function keepFocus(): void {
  addEventListener('focusin', ({ target }) => {
    focused = target as HTMLElement;
    steps = stepsTo(focused);
  });
  addEventListener('keydown', () => {
    byKeyboard = true;
  });
  addEventListener('pointerdown', () => {
    byKeyboard = false;
  });
  new MutationObserver(mend).observe(document.body, {
    childList: true,
    subtree: true,
    attributeFilter: ['aria-busy', 'disabled'],
  });
}
