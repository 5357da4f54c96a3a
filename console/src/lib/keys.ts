// The keyboard map: one list, which the help shows.
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Key } from './i18n.ts';
import { go, href } from './router.ts';
import { shortcuts } from './settings.ts';

export const helpOpen = signal(false);
export const paletteOpen = signal(false);

const pageKeys = new Map<string, () => void>();

/** A key of the current page, such as `[`, `]` or `h`. */
export function pageKey(key: string, action: () => void): void {
  useEffect(() => {
    pageKeys.set(key, action);
    return () => {
      if (pageKeys.get(key) === action) pageKeys.delete(key);
    };
  });
}

export const PLACES: Record<string, string> = {
  h: '/',
  p: '/processes',
  i: '/instances',
  e: '/incidents',
  t: '/tasks',
  d: '/decisions',
  m: '/messages',
  j: '/jobs',
  r: '/timers',
  b: '/batches',
  l: '/log',
  s: '/system',
};
export const HELP: readonly [string, Key][] = [
  ['/', 'help.search'],
  ['Ctrl K', 'help.palette'],
  ['g …', 'help.go'],
  ['j k', 'help.rows'],
  ['Enter', 'help.open'],
  ['Esc', 'help.close'],
  ['[ ]', 'help.step'],
  ['h', 'help.heat'],
  ['?', 'help.help'],
];

const isText = (element: Element | null): boolean =>
  !!element?.closest('input:not([type=range],[type=checkbox]),textarea,select,[contenteditable]');

function moveRow(by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + by))];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}

let pendingGo = 0;
const ACTIONS: Record<string, () => void> = {
  '/': () => document.querySelector<HTMLElement>('[data-search]')?.focus(),
  '?': () => {
    helpOpen.value = true;
  },
  j: () => moveRow(1),
  k: () => moveRow(-1),
};

let typed = '';

/** The text that was typed before the palette was there. */
export function takeTyped(): string {
  const text = typed;
  typed = '';
  return text;
}

/** A key after Ctrl K belongs to the palette, also while it is being loaded. */
function typeAhead(event: KeyboardEvent): void {
  if (event.key === 'Escape') paletteOpen.value = false;
  if (event.ctrlKey || event.metaKey || event.key === 'Tab') return;
  event.preventDefault();
  if (event.key.length === 1) typed += event.key;
}

function pressed(event: KeyboardEvent): void {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
    event.preventDefault();
    typed = '';
    paletteOpen.value = true;
    return;
  }
  const isDialog = document.querySelector('dialog[open]') !== null;
  if (paletteOpen.value && !isDialog) {
    typeAhead(event);
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || shortcuts.value === 'off') return;
  if (isDialog || isText(event.target as Element)) return;
  if (Date.now() - pendingGo < 1200 && PLACES[event.key]) {
    pendingGo = 0;
    event.preventDefault();
    go(href(PLACES[event.key]!));
    return;
  }
  if (event.key === 'g') {
    pendingGo = Date.now();
    return;
  }
  const action = pageKeys.get(event.key) ?? ACTIONS[event.key];
  if (action) {
    event.preventDefault();
    action();
  }
}

export function startKeys(): void {
  addEventListener('keydown', pressed);
}
