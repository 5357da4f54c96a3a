// Decision instances: each decision that an evaluation took.
import { instanceOf } from '../lib/decisions.ts';
import { range } from '../lib/filters.ts';
import { t } from '../lib/i18n.ts';
import { href } from '../lib/router.ts';
import type { DecisionInstance } from '../lib/shapes.ts';
import { decisionInstanceUrl, decisionUrl } from '../lib/urls.ts';
import { Head } from '../parts/head.tsx';
import { SearchPage } from '../parts/search.tsx';
import { State } from '../parts/state.tsx';
import type { Column } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { BatchButton } from './batch.tsx';

const columns = (): Column<DecisionInstance>[] => [
  {
    title: t('decision.instance'),
    wide: true,
    cell: (d) => (
      <a data-row href={decisionInstanceUrl(d.decisionEvaluationInstanceKey)}>
        <b>{d.decisionDefinitionName || d.decisionDefinitionId}</b>
        <small>
          <code>{d.decisionEvaluationInstanceKey}</code>
        </small>
      </a>
    ),
  },
  {
    title: t('version'),
    cell: (d) => (
      <a href={decisionUrl(d.decisionDefinitionId, d.tenantId, { version: d.decisionDefinitionVersion })}>
        v{d.decisionDefinitionVersion}
      </a>
    ),
  },
  { title: t('state'), cell: (d) => <State of={d.state} /> },
  {
    title: t('decision.result'),
    wide: true,
    cell: (d) => <code class="cut">{d.evaluationFailure ?? d.result}</code>,
  },
  { title: t('decision.evaluatedAt'), sort: 'evaluationDate', cell: (d) => <Time at={d.evaluationDate} /> },
  {
    title: t('instance'),
    cell: (d) =>
      instanceOf(d) ? (
        <a href={href(`/instances/${d.processInstanceKey}`)}>{d.businessId ?? d.processInstanceKey}</a>
      ) : (
        <span class="dim">–</span>
      ),
  },
];

export function DecisionInstances() {
  return (
    <>
      <Head title={t('decision.instances')} crumbs={<a href={href('/decisions')}>{t('nav.decisions')}</a>} />
      <SearchPage<DecisionInstance>
        resource="decision-instances"
        label={t('decision.instances')}
        count="count.decisionInstances"
        columns={columns()}
        id={(d) => d.decisionEvaluationInstanceKey}
        sort="-evaluationDate"
        topics={['decisions']}
        empty={t('empty.decisionInstances')}
        way={['/decisions', 'nav.decisions']}
        states={[
          ['all', t('filter.all')],
          ['evaluated', t('state.evaluated')],
          ['failed', t('state.failed')],
        ]}
        fields={[
          ['decision', t('decision.id')],
          ['version', t('version')],
          ['instance', t('decision.processInstance')],
          ['from', t('decision.from'), 'datetime-local'],
          ['to', t('decision.to'), 'datetime-local'],
        ]}
        filter={(state, { decision, version, instance, from, to }) => {
          const evaluated = range(from, to);
          return {
            ...(state !== 'all' && { state: state.toUpperCase() }),
            ...(decision && { decisionDefinitionId: decision }),
            ...(version && { decisionDefinitionVersion: Number(version) }),
            ...(instance && { processInstanceKey: instance }),
            ...(evaluated && { evaluationDate: evaluated }),
          };
        }}
        actions={(filter, total) => <BatchButton what="deleteEvaluations" filter={filter} total={total} />}
      />
    </>
  );
}
