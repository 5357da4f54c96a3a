// Decisions: the latest version of each.
import { type Counted, countedDecisions, lookedAt } from '../lib/decisions.ts';
import { number, t } from '../lib/i18n.ts';
import { href } from '../lib/router.ts';
import { decisionUrl } from '../lib/urls.ts';
import { Head } from '../parts/head.tsx';
import { SearchPage } from '../parts/search.tsx';
import type { Column } from '../parts/table.tsx';
import { versionColumn } from '../parts/versions.tsx';

const UNKNOWN = <span class="dim">–</span>;

const columns = (): Column<Counted>[] => [
  {
    title: t('decision'),
    sort: 'name',
    wide: true,
    cell: (d) => (
      <a data-row href={decisionUrl(d.decisionDefinitionId, d.tenantId, { version: d.version })}>
        <b>{d.name || d.decisionDefinitionId}</b>
        <small>
          <code>{d.decisionDefinitionId}</code>
        </small>
      </a>
    ),
  },
  versionColumn(),
  {
    title: t('decision.requirements'),
    wide: true,
    cell: (d) => (
      <>
        {d.decisionRequirementsName || d.decisionRequirementsId}{' '}
        <span class="dim">v{d.decisionRequirementsVersion}</span>
      </>
    ),
  },
  {
    title: t('decision.evaluations'),
    cell: (d) =>
      d.count ? (
        <a class="number" href={href('/decision-instances', { decision: d.decisionDefinitionId, version: d.version })}>
          {lookedAt(d.count)}
        </a>
      ) : (
        UNKNOWN
      ),
  },
  {
    title: t('decision.failures'),
    cell: (d) =>
      d.count?.failed ? (
        <a
          class="number bad"
          title={d.count.hasMore ? t('decision.bound', { n: number(d.count.decisionInstances) }) : undefined}
          href={href('/decision-instances', { decision: d.decisionDefinitionId, version: d.version, state: 'failed' })}
        >
          {number(d.count.failed)}
        </a>
      ) : d.count ? (
        <span class="number dim">0</span>
      ) : (
        UNKNOWN
      ),
  },
];

export function Decisions() {
  return (
    <>
      <Head
        title={t('nav.decisions')}
        actions={
          <>
            <a class="button" href={href('/editor/drafts')}>
              {t('draft.list')}
            </a>
            <a class="button" href={href('/editor', { new: 'dmn' })}>
              {t('editor.newDecision')}
            </a>
            <a class="button" href={href('/decision-instances')}>
              {t('decision.instances')}
            </a>
          </>
        }
      />
      <SearchPage<Counted>
        resource="decision-definitions"
        load={countedDecisions}
        label={t('nav.decisions')}
        count="count.decisions"
        columns={columns()}
        id={(d) => d.decisionDefinitionKey}
        sort="name"
        topics={['definitions', 'decisions']}
        empty={t('empty.decisions')}
        way={['/deploy', 'nav.deploy']}
        states={[
          ['latest', t('decision.latest')],
          ['all', t('decision.allVersions')],
        ]}
        fields={[
          ['name', t('decision.name')],
          ['id', t('decision.id')],
        ]}
        filter={(state, { name, id }) => ({
          ...(state !== 'all' && { isLatestVersion: true }),
          ...(name && { name: { $like: `*${name}*` } }),
          ...(id && { decisionDefinitionId: id }),
        })}
      />
    </>
  );
}
