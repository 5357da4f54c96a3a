// The problems of the model that is edited. Each leads to its element.
import { t } from '../lib/i18n.ts';
import type { Located } from '../lib/problems.ts';
import { ProblemBox } from '../parts/problem.tsx';
import type { Checked } from './validation.ts';

type Select = (id: string) => void;

function Rows({ of, tone, onSelect }: { of: readonly Located[]; tone: string; onSelect: Select }) {
  return of.map((one, i) => (
    <li key={`${tone} ${i}`}>
      <b class={tone}>{t(tone === 'bad' ? 'editor.problem' : 'editor.warning')}</b>{' '}
      {one.element && (
        <>
          <button type="button" class="link" onClick={() => onSelect(one.element!)}>
            {one.element}
          </button>
          {': '}
        </>
      )}
      {one.text}
    </li>
  ));
}

export function ProblemList({ checked, onSelect }: { checked: Checked | null; onSelect: Select }) {
  if (!checked) return <p class="dim">{t('editor.checking')}</p>;
  if (checked.failed) return <ProblemBox problem={checked.failed} />;
  if (!checked.problems.length && !checked.warnings.length) return <p class="ok">{t('editor.valid')}</p>;
  return (
    <ul class="messages">
      <Rows of={checked.problems} tone="bad" onSelect={onSelect} />
      <Rows of={checked.warnings} tone="wait" onSelect={onSelect} />
    </ul>
  );
}
