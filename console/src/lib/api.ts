// The API client. It speaks the public API only. Errors are problem details (RFC 9457).
import { lost } from './connection.ts';
import { exact } from './json.ts';
import { signedOut } from './session.ts';
import type { Page, SearchRequest } from './shapes.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A request as the console shows it to be copied. `ifMatch`: the version that its subject must have. */
export type Request = { method: Method; path: string; body?: unknown; ifMatch?: string | null };

/** An answer with the position of its command in the log (null for reads) and its duration. */
export type Answer<T> = { body: T; position: string | null; ms: number };

/** A fault at an element; null: of the whole. */
export type ElementProblem = { elementId: string | null; message: string };

/** A problem: the server's, or `status` 0 when the server cannot be reached. */
export class Problem extends Error {
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly position: string | null;
  /** All that is wrong, if there may be several things. */
  readonly problems: readonly ElementProblem[];
  constructor(
    status: number,
    title: string,
    detail: string,
    position: string | null = null,
    problems: readonly ElementProblem[] = [],
  ) {
    super(detail || title);
    this.status = status;
    this.title = title;
    this.detail = detail;
    this.position = position;
    this.problems = problems;
  }
}

/** The page of sign-in, which returns to where the user is. */
export const signInUrl = (): string => `/console/login?next=${encodeURIComponent(location.pathname + location.search)}`;

/** Whether an answer was ever good: then the page has something to keep, and offers to sign in where it is. */
let wasSignedIn = false;

function ended(): void {
  if (wasSignedIn) signedOut.value = true;
  else location.assign(signInUrl());
}

/** See whether the session has ended. */
export async function checkSession(): Promise<void> {
  const answer = await fetch('/v2/authentication/me', { credentials: 'same-origin' }).catch(() => null);
  if (answer?.status === 401) ended();
}

/** Whether a proxy answers for a server that is away, or a server whose database is. */
const isAway = (status: number, title: string): boolean =>
  status === 502 || (status === 503 && title !== 'RESOURCE_EXHAUSTED');

/** The problem that an answer with this status and body tells. */
export function problemOf(status: number, statusText: string, text: string, position: string | null = null): Problem {
  if (status === 401) ended();
  const found = problemIn(text);
  const problem = new Problem(
    status,
    found?.title ?? statusText,
    found ? (found.detail ?? '') : text.slice(0, 300),
    position,
    found?.problems,
  );
  if (isAway(problem.status, problem.title)) lost();
  return problem;
}

type Details = { title?: string; detail?: string; problems?: ElementProblem[] };

/** The problem details in a body; null if it has none. */
function problemIn(text: string): Details | null {
  try {
    return JSON.parse(text) as Details;
  } catch {
    return null;
  }
}

async function fetched(request: Request, abort?: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = { Accept: 'application/json, text/xml' };
  const init: RequestInit = { method: request.method, headers, credentials: 'same-origin' };
  if (abort) init.signal = abort;
  if (request.ifMatch) headers['If-Match'] = request.ifMatch;
  if (request.body instanceof FormData) init.body = request.body;
  else if (request.method !== 'GET') {
    headers['Content-Type'] = 'application/json';
    init.body = JSON.stringify(request.body ?? {});
  }
  try {
    return await fetch(request.path, init);
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error;
    lost();
    throw new Problem(0, 'UNREACHABLE', '');
  }
}

/** Send a request. Raises Problem. */
export async function send<T>(request: Request, abort?: AbortSignal): Promise<Answer<T>> {
  const started = performance.now();
  const answer = await fetched(request, abort);
  const position = answer.headers.get('Command-Position');
  const text = await answer.text();
  if (!answer.ok) throw problemOf(answer.status, answer.statusText, text, position);
  wasSignedIn = true;
  const isJson = (answer.headers.get('Content-Type') ?? '').includes('json');
  const body = (isJson && text ? exact(text) : text) as T;
  return { body, position, ms: performance.now() - started };
}

/** Read one resource. Raises Problem. */
export const get = async <T>(path: string, abort?: AbortSignal): Promise<T> =>
  (await send<T>({ method: 'GET', path }, abort)).body;

/** The answer; null if the user may not see it. Raises Problem. */
export async function ifAllowed<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Problem && error.status === 403) return null;
    throw error;
  }
}

/** Search: a page of `resource`, such as `process-instances`. Raises Problem. */
export const search = async <T>(resource: string, body: SearchRequest, abort?: AbortSignal): Promise<Page<T>> =>
  (await send<Page<T>>({ method: 'POST', path: `/v2/${resource}/search`, body }, abort)).body;
