// The user of the console, and what they may do. The server decides; the console only says beforehand why an action is not possible.
import { batch, computed, signal } from '@preact/signals';
import type { Page, User } from './shapes.ts';

/** A permission: an action on a type of resource. */
export type Need = readonly [resource: string, action: string];
export type Grant = {
  ownerId: string;
  ownerType: string;
  resourceType: string;
  resourceId: string | null;
  resourcePropertyName: string | null;
  permissionTypes: string[];
  authorizationKey: string;
};

export const CREATE_INSTANCE: Need = ['PROCESS_DEFINITION', 'CREATE_PROCESS_INSTANCE'];
export const UPDATE_INSTANCE: Need = ['PROCESS_DEFINITION', 'UPDATE_PROCESS_INSTANCE'];
export const DELETE_INSTANCE: Need = ['PROCESS_DEFINITION', 'DELETE_PROCESS_INSTANCE'];
export const CANCEL_INSTANCE: Need = ['PROCESS_DEFINITION', 'CANCEL_PROCESS_INSTANCE'];
export const MODIFY_INSTANCE: Need = ['PROCESS_DEFINITION', 'MODIFY_PROCESS_INSTANCE'];
export const SUSPEND_INSTANCE: Need = ['PROCESS_DEFINITION', 'SUSPEND_PROCESS_INSTANCE'];
export const READ_INSTANCE: Need = ['PROCESS_DEFINITION', 'READ_PROCESS_INSTANCE'];
export const READ_TASK: Need = ['PROCESS_DEFINITION', 'READ_USER_TASK'];
export const UPDATE_TASK: Need = ['PROCESS_DEFINITION', 'UPDATE_USER_TASK'];
export const CLAIM_TASK: Need = ['PROCESS_DEFINITION', 'CLAIM_USER_TASK'];
export const COMPLETE_TASK: Need = ['PROCESS_DEFINITION', 'COMPLETE_USER_TASK'];
export const SEND_MESSAGE: Need = ['MESSAGE', 'CREATE'];
export const DEPLOY: Need = ['RESOURCE', 'CREATE'];
export const DELETE_PROCESS: Need = ['RESOURCE', 'DELETE_PROCESS'];
export const EVALUATE_DECISION: Need = ['DECISION_DEFINITION', 'CREATE_DECISION_INSTANCE'];
export const DELETE_EVALUATION: Need = ['DECISION_DEFINITION', 'DELETE_DECISION_INSTANCE'];
export const EVALUATE: Need = ['EXPRESSION', 'EVALUATE'];

/** Permissions on processes → those on single user tasks. One of the two is enough. */
const ON_TASKS: Record<string, string> = {
  READ_USER_TASK: 'READ',
  UPDATE_USER_TASK: 'UPDATE',
  CLAIM_USER_TASK: 'CLAIM',
  COMPLETE_USER_TASK: 'COMPLETE',
};

/** Another permission that is enough, too. */
function insteadOf([resource, action]: Need): Need | null {
  if (resource === 'BATCH' && action.startsWith('CREATE_BATCH_OPERATION_')) return ['BATCH', 'CREATE'];
  const onTask = ON_TASKS[action];
  return onTask === undefined ? null : ['USER_TASK', onTask];
}

export const me = signal<User | null>(null);
/** Null as long as it is unknown, and without authentication: then everything is allowed. */
const grants = signal<readonly Grant[] | null>(null);
/** Whether the server was asked for the rights of the user. Until then a page that needs some waits. */
export const rightsAsked = signal(false);
/** Without authentication everybody may do everything. */
export const isOpen = computed(() => me.value !== null && grants.value === null);

const has = (of: readonly Grant[], [resource, action]: Need, id: string | undefined): boolean =>
  of.some(
    (grant) =>
      grant.resourceType === resource &&
      grant.permissionTypes.includes(action) &&
      (id === undefined || grant.resourceId === '*' || grant.resourceId === id || grant.resourcePropertyName !== null),
  );

/** Whether the user has a permission: for a resource with this id, else for any of its type. */
export function may(need: Need, id?: string): boolean {
  const of = grants.value;
  if (of === null || has(of, need, id)) return true;
  const other = insteadOf(need);
  return other !== null && has(of, other, undefined);
}

async function answered<T>(path: string, body?: unknown): Promise<T | null> {
  const init: RequestInit =
    body === undefined
      ? {}
      : { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
  const answer = await fetch(path, { credentials: 'same-origin', ...init }).catch(() => null);
  return answer?.ok ? ((await answer.json()) as T) : null;
}

/** Read who uses the console. Without authentication, nobody has grants and everybody has all components. */
export async function loadSession(): Promise<void> {
  const [user, found] = await Promise.all([
    answered<User>('/v2/authentication/me'),
    answered<Page<Grant>>('/v2/authentication/me/authorizations/search', { page: { limit: 1000 } }),
  ]);
  batch(() => {
    if (user) me.value = user;
    if (user && found)
      grants.value = !found.items.length && user.authorizedComponents.includes('*') ? null : found.items;
    rightsAsked.value = true;
  });
}

/** The session has ended; what the page shows stays until somebody signs in. */
export const signedOut = signal(false);
export type SignInOutcome = 'done' | 'wrong' | 'tooMany' | 'failed';

/** Sign in on this page. The server answers with its page of sign-in, or sends the browser on. */
export async function signIn(username: string, password: string): Promise<SignInOutcome> {
  const body = new URLSearchParams({ username, password, next: '/console/' });
  const answer = await fetch('/console/login', {
    method: 'POST',
    body,
    credentials: 'same-origin',
    redirect: 'manual',
  }).catch(() => null);
  if (answer?.type === 'opaqueredirect') return 'done';
  return answer?.status === 401 ? 'wrong' : answer?.status === 429 ? 'tooMany' : 'failed';
}

/** Whether a session is there again, made in another tab. */
export async function isSignedIn(): Promise<boolean> {
  return (await answered<User>('/v2/authentication/me')) !== null;
}
