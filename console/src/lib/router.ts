// Addresses: each view is its URL. Filters and selections live in the query string.
import { computed, signal } from '@preact/signals';

export const BASE = '/console';
export type Values = Record<string, string | number | null | undefined>;

const here = (): URL => new URL(location.href);

export const address = signal(here());

/** The path below the console, without a slash at its end: `/instances/42`, or `/`. */
export const path = computed(() => address.value.pathname.slice(BASE.length).replace(/\/+$/, '') || '/');

export const query = computed(() => address.value.searchParams);

/** The URL of a page of the console. Empty values are left out. */
export function href(to: string, values: Values = {}): string {
  return BASE + to + searchOf(values);
}

function searchOf(values: Values): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(values))
    if (value != null && value !== '') search.set(name, String(value));
  const text = search.toString();
  return text && `?${text}`;
}

/** Go to a URL of the console. `replace`: without a new entry in the history of the browser. */
export function go(url: string, replace = false): void {
  if (url === location.pathname + location.search) return;
  history[replace ? 'replaceState' : 'pushState'](null, '', url);
  const pageChanged = here().pathname !== address.value.pathname;
  address.value = here();
  if (pageChanged) scrollTo(0, 0);
}

/** The URL of this page with some values of its query changed. */
export function withQuery(values: Values): string {
  return address.value.pathname + searchOf({ ...Object.fromEntries(query.value), ...values });
}

/** Change values of the query of this page; null removes one. */
export function put(values: Values, replace = true): void {
  go(withQuery(values), replace);
}

/** A part of a path; as it is if somebody typed a `%` that begins no character. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The values of a pattern such as `/instances/:key` in a path; null if it does not match. */
export function match(pattern: string, text: string): Record<string, string> | null {
  const wanted = pattern.split('/');
  const given = text.split('/');
  if (wanted.length !== given.length) return null;
  const found: Record<string, string> = {};
  for (const [i, part] of wanted.entries()) {
    if (part.startsWith(':')) found[part.slice(1)] = decoded(given[i]!);
    else if (part !== given[i]) return null;
  }
  return found;
}

function followed(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey)
    return;
  const link = (event.target as Element).closest?.('a');
  if (!link || link.target || link.hasAttribute('download') || link.origin !== location.origin) return;
  if (!link.pathname.startsWith(`${BASE}/`) || link.hash) return;
  event.preventDefault();
  go(link.pathname + link.search);
}

export function startRouter(): void {
  addEventListener('popstate', () => {
    address.value = here();
  });
  addEventListener('click', followed);
}
