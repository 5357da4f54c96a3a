// A decision: what it requires, its logic, and its versions.
import '../decisions/decisions.css';
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { Boxed } from '../decisions/boxed.tsx';
import { RequirementDiagram } from '../decisions/diagram.tsx';
import { useGraph } from '../decisions/evaluated.tsx';
import { type Graph, type Kind, logicOf } from '../decisions/model.ts';
import { search } from '../lib/api.ts';
import { decisionFile, decisionVersions, ruleCounts } from '../lib/decisions.ts';
import { number, t } from '../lib/i18n.ts';
import { useResource } from '../lib/resource.ts';
import { href, put, query, withQuery } from '../lib/router.ts';
import type { DecisionDefinition, Evaluation, RuleCounts } from '../lib/shapes.ts';
import { decisionUrl } from '../lib/urls.ts';
import { chosen } from '../lib/versions.ts';
import { Head } from '../parts/head.tsx';
import { Empty, ProblemBox } from '../parts/problem.tsx';
import { VersionChoice, VersionFacts } from '../parts/versions.tsx';
import { Compare } from './compare.tsx';
import { Evaluate } from './evaluate.tsx';

/** The decisions of the same file by id, with their versions. */
async function siblingsOf(key: string, abort: AbortSignal): Promise<Map<string, DecisionDefinition>> {
  const { items } = await search<DecisionDefinition>(
    'decision-definitions',
    { filter: { decisionRequirementsKey: key }, page: { limit: 1000 } },
    abort,
  );
  return new Map(items.map((each) => [each.decisionDefinitionId, each]));
}

function Facts({ definition }: { definition: DecisionDefinition }) {
  return (
    <dl class="facts">
      <dt>{t('decision.requirements')}</dt>
      <dd>
        {definition.decisionRequirementsName || definition.decisionRequirementsId}{' '}
        <span class="dim">v{definition.decisionRequirementsVersion}</span>
      </dd>
      <VersionFacts of={definition} id={definition.decisionDefinitionKey} />
    </dl>
  );
}

/** The logic of the decision, or of the business knowledge model that the URL names. */
function Shown({ graph, definition }: { graph: Graph; definition: DecisionDefinition }) {
  const own = definition.decisionDefinitionId;
  const id = query.value.get('node') ?? own;
  const node = graph.nodes.get(id);
  const logic = useMemo(() => (node ? logicOf(node) : null), [node]);
  const isCounted = id === own && logic?.kind === 'table';
  const counts = useResource(
    isCounted ? `rules ${definition.decisionDefinitionKey}` : '',
    (abort) => ruleCounts(definition.decisionDefinitionKey, abort),
    ['decisions'],
  ).data.value;
  const known = useMemo(
    () =>
      counts ? { counts: new Map(counts.rules.map(({ ruleIndex, matches }) => [ruleIndex, matches] as const)) } : {},
    [counts],
  );
  if (!node) return <p class="dim">{t('missing.text')}</p>;
  return (
    <>
      <h2>
        {t(`decision.kind.${node.kind}`)} {node.name}
      </h2>
      <p class="dim">
        <code>
          {node.variable}
          {node.type && `: ${node.type}`}
        </code>
      </p>
      {isCounted && counts && <Looked counts={counts} />}
      <Boxed key={id} logic={logic} label={node.name} known={isCounted ? known : {}} />
    </>
  );
}

/** The basis of the counts: the number of decision instances that were looked at, of failed ones, and of those whose rules are not all known. */
function Looked({ counts }: { counts: RuleCounts }) {
  return (
    <p class="dim" role="status">
      {t(counts.hasMore ? 'rule.lookedAtSome' : 'rule.lookedAtAll', { n: number(counts.decisionInstances) })}
      {counts.failed > 0 && ` ${t('rule.failed', { n: number(counts.failed) })}`}
      {counts.withoutAllRules > 0 && ` ${t('rule.withoutAll', { n: number(counts.withoutAllRules) })}`}
    </p>
  );
}

function Version({ definition, latest }: { definition: DecisionDefinition; latest: boolean }) {
  const outcome = useSignal<Evaluation | null>(null);
  const evaluating = query.value.get('evaluate') !== null;
  const { decisionDefinitionKey: key, decisionRequirementsKey: requirements } = definition;
  const file = useResource(`dmn ${key}`, async () => ({ xml: await decisionFile(key) }));
  const siblings = useResource(`siblings ${requirements}`, (abort) => siblingsOf(requirements, abort)).data.value;
  const { graph, failure } = useGraph(file.data.value?.xml);
  const hrefOf = (id: string, kind: Kind): string | null => {
    if (kind === 'businessKnowledgeModel') return withQuery({ node: id });
    const sibling = kind === 'decision' ? siblings?.get(id) : undefined;
    return sibling ? decisionUrl(id, sibling.tenantId, { version: sibling.version }) : null;
  };
  return (
    <div class="stack decision" aria-busy={file.loading.value}>
      <Facts definition={definition} />
      {file.problem.value && <ProblemBox problem={file.problem.value} retry={file.reload} />}
      {failure && <p class="problem">{failure}</p>}
      {file.data.value?.xml === null && <p class="dim">{t('decision.noFile')}</p>}
      {graph && (
        <>
          <RequirementDiagram
            graph={graph}
            selected={query.value.get('node') ?? definition.decisionDefinitionId}
            hrefOf={hrefOf}
          />
          {evaluating && <Evaluate definition={definition} latest={latest} graph={graph} outcome={outcome} />}
          {!(evaluating && outcome.value) && <Shown graph={graph} definition={definition} />}
        </>
      )}
    </div>
  );
}

export function Decision({ id }: { id: string }) {
  const found = useResource(`decision ${id}`, (abort) => decisionVersions(id, abort), ['definitions']);
  const versions = found.data.value?.items;
  const evaluating = query.value.get('evaluate') !== null;
  const definition = versions && chosen(versions);
  const other = versions?.find((one) => one !== definition && String(one.version) === query.value.get('with'));
  return (
    <>
      <Head
        title={definition?.name || id}
        crumbs={<a href={href('/decisions')}>{t('nav.decisions')}</a>}
        note={<code>{id}</code>}
        actions={
          definition && (
            <>
              <VersionChoice versions={versions!} value={definition} />
              {versions!.length > 1 && (
                <select
                  aria-label={t('decision.compare')}
                  value={other ? String(other.version) : ''}
                  onChange={(event) => put({ with: event.currentTarget.value || null, evaluate: null, node: null })}
                >
                  <option value="">{t('decision.compare')} …</option>
                  {versions!
                    .filter((d) => d !== definition)
                    .map((d) => (
                      <option key={d.version} value={d.version}>
                        v{d.version}
                      </option>
                    ))}
                </select>
              )}
              <button
                type="button"
                aria-pressed={evaluating}
                onClick={() => put({ evaluate: evaluating ? null : 1, node: null, with: null })}
              >
                {t('decision.evaluate')} …
              </button>
              <a class="button" href={href('/editor', { decision: definition.decisionDefinitionKey })}>
                {t('edit')}
              </a>
              <a class="button" href={href('/decision-instances', { decision: id, version: definition.version })}>
                {t('decision.instances')}
              </a>
            </>
          )
        }
      />
      {found.problem.value && <ProblemBox problem={found.problem.value} retry={found.reload} />}
      {versions && !definition && <Empty text={t('empty.decision', { id })} of={['/decisions', 'nav.decisions']} />}
      {!versions && !found.problem.value && <p class="dim loading">{t('loading')}</p>}
      {definition && other && (
        <div class="stack decision">
          <Compare key={`${other.version} ${definition.version}`} before={other} after={definition} />
        </div>
      )}
      {definition && !other && (
        <Version key={definition.decisionDefinitionKey} definition={definition} latest={definition === versions![0]} />
      )}
    </>
  );
}
