// Users, groups, roles, tenants and mapping rules: their fields, their members, and what belongs to whom. Pages are made from this table.
import type { Counted, Key } from '../../lib/i18n.ts';

export type Field = { name: string; label: Key; required?: boolean };
/** A kind of member: its segment of paths, the name of its id, and its type as an owner of grants. */
export type MemberKind = { path: string; id: string; type: string; label: Key };
/** `like`: whether the search for its id takes patterns. */
export type Kind = {
  path: string;
  type: string;
  id: string;
  title: Key;
  one: Key;
  count: Counted;
  note: Key;
  fields: readonly Field[];
  members: readonly string[];
  like: boolean;
};
export type Entry = Record<string, string | null>;

const NAME: Field = { name: 'name', label: 'field.name', required: true };
const DESCRIPTION: Field = { name: 'description', label: 'field.description' };

export const KINDS: readonly Kind[] = [
  {
    path: 'users',
    type: 'USER',
    id: 'username',
    title: 'access.users',
    one: 'access.user',
    count: 'count.users',
    note: 'access.users.note',
    like: true,
    members: [],
    fields: [
      { name: 'name', label: 'field.name' },
      { name: 'email', label: 'field.email' },
    ],
  },
  {
    path: 'groups',
    type: 'GROUP',
    id: 'groupId',
    title: 'access.groups',
    one: 'access.group',
    count: 'count.groups',
    note: 'access.groups.note',
    like: true,
    members: ['users', 'clients', 'mapping-rules'],
    fields: [NAME, DESCRIPTION],
  },
  {
    path: 'roles',
    type: 'ROLE',
    id: 'roleId',
    title: 'access.roles',
    one: 'access.role',
    count: 'count.roles',
    note: 'access.roles.note',
    like: false,
    members: ['users', 'clients', 'groups', 'mapping-rules'],
    fields: [NAME, DESCRIPTION],
  },
  {
    path: 'tenants',
    type: 'TENANT',
    id: 'tenantId',
    title: 'access.tenants',
    one: 'access.tenant',
    count: 'count.tenants',
    note: 'access.tenants.note',
    like: false,
    members: ['users', 'clients', 'groups', 'roles', 'mapping-rules'],
    fields: [NAME, DESCRIPTION],
  },
  {
    path: 'mapping-rules',
    type: 'MAPPING_RULE',
    id: 'mappingRuleId',
    title: 'access.mapping-rules',
    one: 'access.mapping-rule',
    count: 'count.mapping-rules',
    note: 'access.mapping-rules.note',
    like: false,
    members: [],
    fields: [
      NAME,
      { name: 'claimName', label: 'field.claimName', required: true },
      { name: 'claimValue', label: 'field.claimValue', required: true },
    ],
  },
];

export const MEMBERS: readonly MemberKind[] = [
  { path: 'users', id: 'username', type: 'USER', label: 'access.users' },
  { path: 'clients', id: 'clientId', type: 'CLIENT', label: 'access.clients' },
  { path: 'groups', id: 'groupId', type: 'GROUP', label: 'access.groups' },
  { path: 'roles', id: 'roleId', type: 'ROLE', label: 'access.roles' },
  { path: 'mapping-rules', id: 'mappingRuleId', type: 'MAPPING_RULE', label: 'access.mapping-rules' },
];

export const BUILT_IN_ROLES = ['admin', 'operator', 'developer', 'worker', 'viewer'];
export const OWNER_TYPES = ['USER', 'CLIENT', 'GROUP', 'ROLE', 'MAPPING_RULE'];
export const TASK_PROPERTIES = ['assignee', 'candidateGroups', 'candidateUsers'];

const CRUD = ['CREATE', 'DELETE', 'READ', 'UPDATE'];
/** The types of resources that grants can be given on, with their permissions. */
export const RESOURCES: Record<string, readonly string[]> = {
  AUDIT_LOG: ['READ'],
  AUTHORIZATION: CRUD,
  BATCH: [
    'CREATE',
    'CREATE_BATCH_OPERATION_CANCEL_PROCESS_INSTANCE',
    'CREATE_BATCH_OPERATION_DELETE_DECISION_INSTANCE',
    'CREATE_BATCH_OPERATION_DELETE_PROCESS_INSTANCE',
    'CREATE_BATCH_OPERATION_MIGRATE_PROCESS_INSTANCE',
    'CREATE_BATCH_OPERATION_MODIFY_PROCESS_INSTANCE',
    'CREATE_BATCH_OPERATION_RESOLVE_INCIDENT',
    'CREATE_BATCH_OPERATION_SUSPEND_PROCESS_INSTANCE',
    'CREATE_BATCH_OPERATION_UPDATE_JOB',
    'READ',
    'UPDATE',
  ],
  CLUSTER_VARIABLE: CRUD,
  COMPONENT: ['ACCESS'],
  DECISION_DEFINITION: [
    'CREATE_DECISION_INSTANCE',
    'DELETE_DECISION_INSTANCE',
    'READ_DECISION_DEFINITION',
    'READ_DECISION_INSTANCE',
  ],
  DECISION_REQUIREMENTS_DEFINITION: ['READ'],
  DOCUMENT: ['CREATE', 'DELETE', 'READ'],
  EXPRESSION: ['EVALUATE'],
  GLOBAL_LISTENER: ['CREATE_TASK_LISTENER', 'DELETE_TASK_LISTENER', 'READ_TASK_LISTENER', 'UPDATE_TASK_LISTENER'],
  GROUP: CRUD,
  MAPPING_RULE: CRUD,
  MESSAGE: ['CREATE', 'READ'],
  PROCESS_DEFINITION: [
    'CANCEL_PROCESS_INSTANCE',
    'CLAIM_USER_TASK',
    'COMPLETE_USER_TASK',
    'CREATE_PROCESS_INSTANCE',
    'DELETE_PROCESS_INSTANCE',
    'MODIFY_PROCESS_INSTANCE',
    'READ_PROCESS_DEFINITION',
    'READ_PROCESS_INSTANCE',
    'READ_USER_TASK',
    'SUSPEND_PROCESS_INSTANCE',
    'UPDATE_PROCESS_INSTANCE',
    'UPDATE_USER_TASK',
  ],
  RESOURCE: ['CREATE', 'DELETE_DRD', 'DELETE_FORM', 'DELETE_PROCESS', 'DELETE_RESOURCE', 'READ'],
  ROLE: CRUD,
  SYSTEM: ['READ', 'READ_JOB_METRIC', 'READ_USAGE_METRIC', 'UPDATE'],
  TENANT: CRUD,
  USER: CRUD,
  USER_TASK: ['CLAIM', 'COMPLETE', 'READ', 'UPDATE'],
};

export const kindOf = (path: string): Kind | undefined => KINDS.find((kind) => kind.path === path);
/** The kinds that something of a type can be a member of. */
export const containersOf = (path: string): Kind[] => KINDS.filter((kind) => kind.members.includes(path));
export const pathOf = (...parts: string[]): string => `/v2/${parts.map(encodeURIComponent).join('/')}`;
