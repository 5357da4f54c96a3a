// Versions of processes and of decisions: the choice of one, and the column of lists.
import { t } from '../lib/i18n.ts';
import type { Versioned } from '../lib/shapes.ts';
import type { Column } from './table.tsx';
import { KeyText } from './time.tsx';

type ChoiceProps = { versions: readonly Versioned[]; value: number; onChange: (version: string) => void };

export function VersionChoice({ versions, value, onChange }: ChoiceProps) {
  return (
    <>
      <label class="sr" for="version">
        {t('version')}
      </label>
      <select id="version" value={String(value)} onChange={(event) => onChange(event.currentTarget.value)}>
        {versions.map((d) => (
          <option key={d.version} value={d.version}>
            v{d.version}
            {d.versionTag ? ` · ${d.versionTag}` : ''}
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
