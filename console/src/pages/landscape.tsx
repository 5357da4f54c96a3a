// The landscape: who calls whom, as a graph of all processes or of those around one, and as a list.
import '../decisions/decisions.css';
import { useMemo } from 'preact/hooks';
import { RequirementDiagram } from '../decisions/diagram.tsx';
import type { Node, Kind as Shape } from '../decisions/model.ts';
import { number, t } from '../lib/i18n.ts';
import { around, type Call, type Kind, keyOf, landscape, type Thing } from '../lib/landscape.ts';
import { useResource } from '../lib/resource.ts';
import { href, put, query } from '../lib/router.ts';
import type { Definition } from '../lib/shapes.ts';
import { decisionUrl, ofTenant, processUrl } from '../lib/urls.ts';
import { Head } from '../parts/head.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { tenants } from '../parts/tenant.tsx';

/** The shapes of requirement diagrams tell the kinds apart. */
const SHAPES = {
  process: 'decision',
  decision: 'businessKnowledgeModel',
  form: 'knowledgeSource',
  message: 'inputData',
} as const satisfies Record<Kind, Shape>;

const isExpression = (id: string): boolean => id.startsWith('=');

const wordOf = (kind: Kind): string => {
  const words = {
    process: 'process',
    decision: 'decision',
    form: 'resource.form',
    message: 'landscape.message',
  } as const;
  return t(words[kind]);
};

function urlOf(of: Thing, isThere: (of: Thing) => boolean): string | null {
  const { kind, id, tenantId } = of;
  if (isExpression(id)) return null;
  if (kind === 'process') return isThere(of) ? processUrl(id, tenantId) : null;
  if (kind === 'decision') return decisionUrl(id, tenantId);
  if (kind === 'form') return href('/resources', { state: 'forms', id });
  return href('/messages', { name: id });
}

const thingOf = (one: Definition): Thing => ({
  kind: 'process',
  id: one.processDefinitionId,
  tenantId: one.tenantId,
});

type Shown = {
  calls: readonly Call[];
  selected: string;
  nameOf: (of: Thing) => string;
  urlOf: (of: Thing) => string | null;
};

function Graph({ calls, selected, nameOf, urlOf }: Shown) {
  const { nodes, things } = useMemo(() => {
    const things = new Map(calls.flatMap(({ from, to }) => [from, to]).map((one) => [keyOf(one), one]));
    const nodes = new Map<string, Node>(
      [...things].map(([id, one]) => [
        id,
        { id, kind: SHAPES[one.kind], name: nameOf(one), variable: '', type: '', requires: [], element: null },
      ]),
    );
    for (const { from, to } of calls) {
      const requires = nodes.get(keyOf(from))!.requires;
      const id = keyOf(to);
      if (!requires.some((one) => one.from === id))
        requires.push({
          id,
          kind: to.kind === 'message' || from.kind === 'message' ? 'knowledge' : 'information',
          from: id,
        });
    }
    return { nodes, things };
  }, [calls]);
  return (
    <RequirementDiagram
      graph={{ nodes, bounds: new Map(), ways: new Map() }}
      selected={selected}
      hrefOf={(id) => urlOf(things.get(id)!)}
      label={t('landscape.graph')}
      wordOf={(shape) => wordOf((Object.keys(SHAPES) as Kind[]).find((kind) => SHAPES[kind] === shape)!)}
      down
    />
  );
}

const Named = ({ of, nameOf, urlOf }: { of: Thing } & Pick<Shown, 'nameOf' | 'urlOf'>) => {
  const url = urlOf(of);
  return (
    <>
      <span class="dim">{wordOf(of.kind)}</span>{' '}
      {url ? (
        <a data-row href={url}>
          {nameOf(of)}
        </a>
      ) : (
        nameOf(of)
      )}
    </>
  );
};

type ChoiceProps = { processes: readonly Definition[]; value: string; nameOf: (of: Thing) => string };

function Choice({ processes, value, nameOf }: ChoiceProps) {
  return (
    <select
      aria-label={t('process')}
      value={value}
      onChange={(event) => {
        const of = processes.find((one) => keyOf(thingOf(one)) === event.currentTarget.value);
        put({ process: of?.processDefinitionId ?? null, tenant: of ? (ofTenant(of.tenantId).tenant ?? null) : null });
      }}
    >
      <option value="">{t('filter.anyProcess')}</option>
      {processes.map((one) => (
        <option key={one.processDefinitionKey} value={keyOf(thingOf(one))}>
          {nameOf(thingOf(one))}
        </option>
      ))}
    </select>
  );
}

export function LandscapePage() {
  const found = useResource('landscape', landscape, ['definitions']);
  const data = found.data.value;
  const [id, tenant] = [query.value.get('process'), query.value.get('tenant')];
  const known = new Map((data?.processes ?? []).map((one) => [keyOf(thingOf(one)), one]));
  const named = data?.processes.find(
    (one) => one.processDefinitionId === id && (tenant === null || one.tenantId === tenant),
  );
  const process = named
    ? thingOf(named)
    : id === null
      ? null
      : { kind: 'process' as const, id, tenantId: tenant ?? '' };
  const selected = process ? keyOf(process) : '';
  const calls = useMemo(() => {
    const all = data?.calls ?? [];
    return process ? around(all, process) : all;
  }, [data, selected]);
  const isWhole = !!data && data.page.totalItems <= data.processes.length;
  const isThere = (of: Thing): boolean => known.has(keyOf(of)) || !isWhole;
  const plainName = (of: Thing): string => {
    const { kind, id } = of;
    if (kind !== 'process' || isExpression(id)) return id;
    return known.get(keyOf(of))?.name ?? (isThere(of) ? id : t('landscape.missing', { id }));
  };
  const nameOf = (of: Thing): string =>
    tenants.value.length > 1 ? `${plainName(of)} (${of.tenantId})` : plainName(of);
  const shown = { nameOf, urlOf: (of: Thing) => urlOf(of, isThere) };
  const columns: Column<Call>[] = [
    { title: t('landscape.caller'), cell: ({ from }) => <Named of={from} {...shown} /> },
    { title: t('landscape.element'), cell: ({ element }) => element },
    { title: t('landscape.calls'), wide: true, cell: ({ to }) => <Named of={to} {...shown} /> },
  ];
  return (
    <>
      <Head
        title={t('landscape')}
        crumbs={<a href={href('/processes')}>{t('nav.processes')}</a>}
        actions={data && <Choice processes={data.processes} value={selected} nameOf={nameOf} />}
      />
      {found.problem.value && <ProblemBox problem={found.problem.value} retry={found.reload} />}
      {!data && !found.problem.value && <p class="dim loading">{t('loading')}</p>}
      {data && (
        <div class="stack decision">
          {!isWhole && <p class="dim">{t('landscape.first', { n: number(data.processes.length) })}</p>}
          {data.unread.length > 0 && (
            <p class="invalid" role="alert">
              {t('landscape.unread', { names: data.unread.join(', ') })}
            </p>
          )}
          {calls.length ? (
            <>
              <Graph calls={calls} selected={selected} {...shown} />
              <Table
                label={t('landscape.graph')}
                columns={columns}
                items={[...calls]}
                id={({ from, to, element }) => `${keyOf(from)} ${keyOf(to)} ${element}`}
              />
            </>
          ) : (
            <p class="dim">
              {process && isWhole && !named ? t('empty.process', { id: process.id }) : t('landscape.empty')}
            </p>
          )}
        </div>
      )}
    </>
  );
}
