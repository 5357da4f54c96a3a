// Versions of processes and of decisions: the choice of one, and the column of lists.
import { t } from '../lib/i18n.ts';
import type { Versioned } from '../lib/shapes.ts';
import type { Column } from './table.tsx';

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
