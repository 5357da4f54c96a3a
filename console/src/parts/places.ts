// The pages that the navigation shows, in its order.
import type { Key } from '../lib/i18n.ts';

export const NAVIGATION: readonly [string, Key][] = [
  ['/', 'nav.home'],
  ['/processes', 'nav.processes'],
  ['/instances', 'nav.instances'],
  ['/incidents', 'nav.incidents'],
  ['/tasks', 'nav.tasks'],
  ['/decisions', 'nav.decisions'],
  ['/messages', 'nav.messages'],
  ['/jobs', 'nav.jobs'],
  ['/timers', 'nav.timers'],
  ['/batches', 'nav.batches'],
  ['/log', 'nav.log'],
  ['/system', 'nav.system'],
];
export const MINOR: readonly [string, Key][] = [
  ['/deploy', 'nav.deploy'],
  ['/figures', 'figures.title'],
  ['/alert-rules', 'alert.title'],
  ['/feel', 'nav.feel'],
  ['/resources', 'nav.resources'],
  ['/cluster-variables', 'clusterVariables'],
  ['/background-jobs', 'background.title'],
  ['/access', 'nav.access'],
  ['/about', 'nav.about'],
];
export const PLACES: readonly [string, Key][] = [
  ...NAVIGATION,
  ...MINOR,
  ['/landscape', 'landscape'],
  ['/decision-instances', 'decision.instances'],
  ['/messages/buffered', 'message.buffered'],
  ['/messages/match', 'match.title'],
  ['/access/users', 'access.users'],
  ['/access/groups', 'access.groups'],
  ['/access/roles', 'access.roles'],
  ['/access/tenants', 'access.tenants'],
  ['/access/mapping-rules', 'access.mapping-rules'],
  ['/access/authorizations', 'access.authorizations'],
  ['/access/audit', 'access.audit'],
];
