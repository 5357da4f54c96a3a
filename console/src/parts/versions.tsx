// Versions of processes and of decisions: the choice of one, and the column of lists.
import { t } from '../lib/i18n.ts';
import { put } from '../lib/router.ts';
import type { Versioned } from '../lib/shapes.ts';
import type { Column } from './table.tsx';
import { KeyText } from './time.tsx';

/** The URL then names the version, and its tenant if there are several. */
export function VersionChoice({ versions, value }: { versions: readonly Versioned[]; value: Versioned }) {
  const isShared = new Set(versions.map((one) => one.tenantId)).size > 1;
  const choose = (index: string) => {
    const { version, tenantId } = versions[Number(index)]!;
    put({ version, tenant: isShared ? tenantId : null, element: null });
  };
  return (
    <>
      <label class="sr" for="version">
        {t('version')}
      </label>
      <select id="version" value={versions.indexOf(value)} onChange={(event) => choose(event.currentTarget.value)}>
        {versions.map((d, index) => (
          <option key={`${d.tenantId} ${d.version}`} value={index}>
            v{d.version}
            {d.versionTag ? ` · ${d.versionTag}` : ''}
            {isShared && ` · ${d.tenantId}`}
          </option>
        ))}
      </select>
    </>
  );
}

export const versionColumn = (): Column<Versioned> => ({
  title: t('version'),
  cell: (d) => (
    <>
      v{d.version}
      {d.versionTag && <span class="tag">{d.versionTag}</span>}
    </>
  ),
});

/** The key of a version and its tag, as facts. */
export const VersionFacts = ({ of, id }: { of: Versioned; id: string }) => (
  <>
    <dt>{t('key')}</dt>
    <dd>
      <KeyText of={id} />
    </dd>
    {of.versionTag && (
      <>
        <dt>{t('versionTag')}</dt>
        <dd>{of.versionTag}</dd>
      </>
    )}
  </>
);
