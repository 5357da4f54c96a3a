// Hints: the server names topics that changed, and the views that show them read again, at most once a second each.
// Without a stream of hints (a proxy, or too many clients) the views read again every five seconds.
import { effect, signal } from '@preact/signals';
import { checkSession } from './api.ts';
import { onReturn } from './connection.ts';

const POLL_MS = 5000;
const PACE_MS = 1000;
const RETRY_MS = 15_000;
const RESTART_MS = 3000;
type View = { topics: readonly string[]; read: () => void | Promise<void>; last: number; due: number | null };

/** Whether views follow the server. The user may pause them to read in peace. */
export const following = signal(true);
/** `stream`: hints arrive. `polling`: no stream, views read again now and then. */
export const source = signal<'stream' | 'polling'>('polling');

const views = new Set<View>();
let stream: EventSource | null = null;
let opened = '';
let settle: number | undefined;
let retry: number | undefined;

function refresh(view: View): void {
  if (view.due !== null || !following.peek() || document.hidden) return;
  const wait = Math.max(0, view.last + PACE_MS - Date.now());
  view.due = window.setTimeout(() => {
    view.due = null;
    view.last = Date.now();
    if (views.has(view)) void view.read();
  }, wait);
}

function hinted(message: MessageEvent<string>): void {
  const { topics } = JSON.parse(message.data) as { topics: string[] };
  for (const view of views) if (view.topics.some((topic) => topics.includes(topic))) refresh(view);
}

/** Topics with an `@` are the console's own: what only people change is read again after a change here, not with every hint. */
const ofServer = (view: View): string[] => view.topics.filter((topic) => !topic.startsWith('@'));
/** Read again what was read before the last `quietMs` milliseconds: the hints of that time may not have come. */
function all(quietMs = -Infinity): void {
  for (const view of views) if (ofServer(view).length && Date.now() - view.last >= quietMs) refresh(view);
}
const wanted = (): string =>
  [...new Set([...views].flatMap(ofServer))]
    .sort()
    .map((topic) => `topic=${encodeURIComponent(topic)}`)
    .join('&');

function close(): void {
  stream?.close();
  stream = null;
  opened = '';
  source.value = 'polling';
}

function connect(): void {
  const topics = wanted();
  if (document.hidden || !following.peek() || !topics) {
    close();
    return;
  }
  if (stream && opened === topics) return;
  close();
  opened = topics;
  const made = new EventSource(`/console/live?${topics}`);
  stream = made;
  made.onopen = () => {
    source.value = 'stream';
  };
  made.onmessage = hinted;
  made.addEventListener('ready', ({ data }) => all((JSON.parse(data) as { quietMs: number }).quietMs));
  made.addEventListener('bye', () => later(made, RESTART_MS));
  made.onerror = () => {
    source.value = 'polling';
    if (made.readyState !== EventSource.CLOSED) return;
    later(made, RETRY_MS);
    void checkSession();
  };
}

/** Close a stream and open another after some time: the server stops (`bye`), or it refused the stream. */
function later(made: EventSource, ms: number): void {
  if (stream !== made) return;
  close();
  window.clearTimeout(retry);
  retry = window.setTimeout(connect, ms * (1 + Math.random()));
}

function reconnect(): void {
  window.clearTimeout(settle);
  settle = window.setTimeout(connect, 50);
}

/** Call `read` when one of the topics changed since it was read (`last`), until the returned function is called. Without topics: only in `readAgain`. */
export function subscribe(topics: readonly string[], read: () => void | Promise<void>, last: number): () => void {
  const view: View = { topics, read, last, due: null };
  views.add(view);
  reconnect();
  return () => {
    views.delete(view);
    if (view.due !== null) window.clearTimeout(view.due);
    reconnect();
  };
}

/** Read all views again: something was changed here. */
export function changed(): void {
  for (const view of views)
    if (view.topics.length) {
      view.last = 0;
      refresh(view);
    }
}

/** Read everything again, also what never changes: the server was away, or somebody signed in. */
export function readAgain(): void {
  for (const view of views) void view.read();
  connect();
}

export function startLive(): void {
  onReturn(readAgain);
  document.addEventListener('visibilitychange', () => {
    connect();
    if (!document.hidden) all();
  });
  effect(() => {
    if (following.value) {
      connect();
      all();
    } else close();
  });
  window.setInterval(() => {
    if (source.peek() === 'polling') all();
  }, POLL_MS);
}
