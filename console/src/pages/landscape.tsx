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
import { decisionUrl, processUrl } from '../lib/urls.ts';
import { Head } from '../parts/head.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { type Column, Table } from '../parts/table.tsx';

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

function urlOf({ kind, id }: Thing, isThere: (id: string) => boolean): string | null {
  if (isExpression(id)) return null;
  if (kind === 'process') return isThere(id) ? processUrl(id, null) : null;
  if (kind === 'decision') return decisionUrl(id, null);
  if (kind === 'form') return href('/resources', { state: 'forms', id });
  return href('/messages', { name: id });
}

type Shown = { calls: readonly Call[]; nameOf: (of: Thing) => string; urlOf: (of: Thing) => string | null };

function Graph({ calls, nameOf, urlOf }: Shown) {
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
      selected={keyOf({ kind: 'process', id: query.value.get('process') ?? '' })}
      hrefOf={(id) => urlOf(things.get(id)!)}
      label={t('landscape.graph')}
      wordOf={(shape) => wordOf((Object.keys(SHAPES) as Kind[]).find((kind) => SHAPES[kind] === shape)!)}
      down
    />
  );
}

const Named = ({ of, nameOf, urlOf }: { of: Thing } & Omit<Shown, 'calls'>) => {
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

function Choice({ processes, value }: { processes: readonly Definition[]; value: string }) {
  return (
    <select
      aria-label={t('process')}
      value={value}
      onChange={(event) => put({ process: event.currentTarget.value || null })}
    >
      <option value="">{t('filter.anyProcess')}</option>
      {processes.map((one) => (
        <option key={one.processDefinitionKey} value={one.processDefinitionId}>
          {one.name ?? one.processDefinitionId}
        </option>
      ))}
    </select>
  );
}

export function LandscapePage() {
  const found = useResource('landscape', landscape, ['definitions']);
  const data = found.data.value;
  const process = query.value.get('process') ?? '';
  const calls = useMemo(() => {
    const all = data?.calls ?? [];
    return process ? around(all, process) : all;
  }, [data, process]);
  const known = new Map((data?.processes ?? []).map((one) => [one.processDefinitionId, one]));
  const isWhole = !!data && data.page.totalItems <= data.processes.length;
  const nameOf = ({ kind, id }: Thing): string => {
    if (kind !== 'process' || isExpression(id)) return id;
    return known.get(id)?.name ?? (known.has(id) || !isWhole ? id : t('landscape.missing', { id }));
  };
  const shown = { nameOf, urlOf: (of: Thing) => urlOf(of, (id) => known.has(id) || !isWhole) };
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
        actions={data && <Choice processes={data.processes} value={process} />}
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
              <Graph calls={calls} {...shown} />
              <Table
                label={t('landscape.graph')}
                columns={columns}
                items={[...calls]}
                id={({ from, to, element }) => `${keyOf(from)} ${keyOf(to)} ${element}`}
              />
            </>
          ) : (
            <p class="dim">{t('landscape.empty')}</p>
          )}
        </div>
      )}
    </>
  );
}
