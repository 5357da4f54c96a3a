// Inbound connectors: the elements that other systems start or wake, each with its state, its last event and its last error.
import { get, ifAllowed, search } from '../lib/api.ts';
import { number, t } from '../lib/i18n.ts';
import { query } from '../lib/router.ts';
import { me } from '../lib/session.ts';
import type { Definition, Page, SearchRequest } from '../lib/shapes.ts';
import { processUrl } from '../lib/urls.ts';
import { Needing } from '../parts/act.tsx';
import { ErrorText } from '../parts/error_text.tsx';
import { Head } from '../parts/head.tsx';
import { SearchPage } from '../parts/search.tsx';
import { State } from '../parts/state.tsx';
import type { Column } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';

/** The counts of receivers are absent for webhooks. */
type Connector = {
  type: string;
  processDefinitionId: string;
  processDefinitionKey: string;
  elementId: string;
  tenantId: string;
  state: string;
  waitingElementInstances?: number;
  events?: number;
  errors?: number;
  lastEventTime?: string | null;
  lastErrorTime?: string | null;
  lastError?: string | null;
  nodeId?: string | null;
};
type Row = Connector & { definition: Definition | undefined };

/** The part of a type that people know: `kafka-inbound` of `io.camunda:connector-kafka-inbound:1`. */
const kindOf = (type: string): string =>
  type
    .split(':')
    .at(-2)
    ?.replace(/^connector-/, '') ?? type;

const MOST_DEFINITIONS = 1000;

/** The definitions of these connectors by key, as far as the user may see them, and as they are among the newest. */
async function definitionsOf(of: readonly Connector[], abort: AbortSignal): Promise<Map<string, Definition>> {
  const ids = [...new Set(of.map((one) => one.processDefinitionId))];
  if (!ids.length) return new Map();
  const newest = [{ field: 'version', order: 'DESC' as const }];
  const body = { filter: { processDefinitionId: { $in: ids } }, sort: newest, page: { limit: MOST_DEFINITIONS } };
  const found = await ifAllowed(search<Definition>('process-definitions', body, abort));
  return new Map((found?.items ?? []).map((one) => [one.processDefinitionKey, one]));
}

const has = (one: Connector, text: string): boolean =>
  [one.processDefinitionId, one.elementId, one.type, one.tenantId, one.lastError ?? ''].some((value) =>
    value.toLowerCase().includes(text.toLowerCase()),
  );

/** All of them: the server does not search among them. */
async function everything(abort: AbortSignal): Promise<Connector[]> {
  const all: Connector[] = [];
  for (;;) {
    const { items, page } = await get<Page<Connector>>(`/inbound-connectors?from=${all.length}`, abort);
    all.push(...items);
    if (!items.length || all.length >= page.totalItems) return all;
  }
}

/** A page of those that match. */
async function load({ filter, page = {} }: SearchRequest, abort: AbortSignal): Promise<Page<Row>> {
  const { state, q } = filter as { state?: string; q?: string };
  const all = await everything(abort);
  const found = all.filter((one) => (!state || one.state === state) && (!q || has(one, q)));
  const { limit = found.length, after, before } = page;
  const from = Number(after ?? before ?? 0);
  const shown = found.slice(from, from + limit);
  const definitions = await definitionsOf(shown, abort);
  return {
    items: shown.map((one) => ({ ...one, definition: definitions.get(one.processDefinitionKey) })),
    page: {
      totalItems: found.length,
      hasMoreTotalItems: false,
      startCursor: from > 0 ? String(Math.max(0, from - limit)) : null,
      endCursor: from + limit < found.length ? String(from + limit) : null,
    },
  };
}

const columns = (): Column<Row>[] => [
  {
    title: t('element'),
    wide: true,
    cell: (one) => (
      <a
        data-row
        href={processUrl(one.processDefinitionId, one.tenantId, {
          version: one.definition?.version ?? null,
          element: one.elementId,
        })}
      >
        <b>{one.elementId}</b>
        <small>
          {one.definition?.name ?? one.processDefinitionId}
          {one.definition && ` v${one.definition.version}`}
        </small>
      </a>
    ),
  },
  { title: t('job.type'), cell: (one) => <code title={one.type}>{kindOf(one.type)}</code> },
  {
    title: t('tenant'),
    has: () => (me.value?.tenants.length ?? 0) > 1,
    cell: (one) => <span class="dim">{one.tenantId}</span>,
  },
  { title: t('state'), cell: (one) => <State of={one.state} /> },
  {
    title: t('inbound.waiting'),
    has: (one) => !!one.waitingElementInstances,
    cell: (one) => number(one.waitingElementInstances ?? 0),
  },
  {
    title: t('inbound.events'),
    has: (one) => one.events !== undefined,
    cell: (one) => one.events !== undefined && <span class="number">{number(one.events)}</span>,
  },
  {
    title: t('inbound.lastEvent'),
    has: (one) => !!one.lastEventTime,
    cell: (one) => one.lastEventTime && <Time at={one.lastEventTime} />,
  },
  {
    title: t('inbound.lastError'),
    wide: true,
    has: (one) => !!one.lastError,
    cell: (one) =>
      one.lastError && (
        <>
          {one.lastErrorTime && (
            <span class="dim">
              <Time at={one.lastErrorTime} />
            </span>
          )}
          <ErrorText of={one.lastError} />
        </>
      ),
  },
  {
    title: t('system.node'),
    has: (one) => !!one.nodeId,
    cell: (one) => <span class="dim">{one.nodeId}</span>,
  },
];

export function InboundConnectors() {
  return (
    <>
      <Head title={t('inbound.title')} />
      <Needing need={['SYSTEM', 'READ']}>
        <SearchPage<Row>
          resource="inbound-connectors"
          label={t('inbound.title')}
          count="count.connectors"
          columns={columns()}
          id={(one) => `${one.processDefinitionKey} ${one.elementId}`}
          sort="elementId"
          topics={['system', 'definitions']}
          empty={query.value.size ? t('inbound.noMatch') : t('inbound.empty')}
          states={[
            ['all', t('filter.all')],
            ['ACTIVE', t('state.active')],
            ['FAILING', t('state.failing')],
            ['CONFLICT', t('state.conflict')],
          ]}
          fields={[['q', t('inbound.find')]]}
          filter={(state, { q }) => ({ ...(state !== 'all' && { state }), ...(q && { q: q.trim() }) })}
          load={load}
        />
      </Needing>
    </>
  );
}
