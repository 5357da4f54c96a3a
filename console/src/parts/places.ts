// The pages that the navigation shows, in groups, with a sign for each: lines in a square of 16.
import type { Key } from '../lib/i18n.ts';

export const NAVIGATION: readonly (readonly [to: string, text: Key, sign: string])[][] = [
  [
    ['/', 'nav.home', 'M2.5 7.5 8 3l5.5 4.5V13h-4V9.5h-3V13h-4z'],
    ['/tasks', 'nav.tasks', 'm2.5 4 1 1 2-2m-3 5.5 1 1 2-2m-3 5.5 1 1 2-2M8 4h6M8 8.5h6M8 13h6'],
    ['/incidents', 'nav.incidents', 'M8 2.5 14 13H2zm0 4v3m0 1.7v.2'],
  ],
  [
    ['/processes', 'nav.processes', 'M1.5 6h4v4h-4zm9 0h4v4h-4zm-5 2h5'],
    ['/instances', 'nav.instances', 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2M6.8 5.7v4.6L10.5 8z'],
    ['/decisions', 'nav.decisions', 'M2.5 3h11v10h-11zm0 3.5h11m-7-3.5v10'],
  ],
  [
    ['/messages', 'nav.messages', 'M2 4h12v8.5H2zm0 .5L8 9l6-4.5'],
    [
      '/jobs',
      'nav.jobs',
      'M8 5.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5m0-3.7v2m0 8.4v2M1.8 8h2m8.4 0h2M3.6 3.6 5 5m6 6 1.4 1.4m0-8.8L11 5m-6 6-1.4 1.4',
    ],
    ['/timers', 'nav.timers', 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2m0 2.8V8l2.3 1.6'],
    ['/batches', 'nav.batches', 'm8 2.5 6 3-6 3-6-3zm-6 6 6 3 6-3'],
  ],
  [
    ['/log', 'nav.log', 'M3 3.5h10m-10 3h10m-10 3h7m-7 3h5'],
    ['/system', 'nav.system', 'M2.5 3h11v4h-11zm0 6h11v4h-11zM5 5h.1M5 11h.1'],
  ],
];
export const MINOR: readonly [string, Key][] = [
  ['/deploy', 'nav.deploy'],
  ['/figures', 'figures.title'],
  ['/alert-rules', 'alert.title'],
  ['/feel', 'nav.feel'],
  ['/resources', 'nav.resources'],
  ['/cluster-variables', 'clusterVariables'],
  ['/background-jobs', 'background.title'],
  ['/inbound-connectors', 'inbound.title'],
  ['/access', 'nav.access'],
  ['/about', 'nav.about'],
];
export const PLACES: readonly [string, Key][] = [
  ...NAVIGATION.flat().map(([to, text]) => [to, text] as [string, Key]),
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
