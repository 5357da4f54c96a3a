// Boxed expressions (DMN 1.5, chapter 10.2), each within another. The words are FEEL's own, and are not translated.
import { t } from '../lib/i18n.ts';
import type { Logic } from './model.ts';
import { type Known, Rules } from './rules.tsx';

const DEEPEST = 30;

type BoxedProps = { logic: Logic | null; label: string; known?: Known; depth?: number };

export function Boxed({ logic, label, known = {}, depth = 0 }: BoxedProps) {
  if (logic === null) return <p class="dim">{t('decision.noLogic')}</p>;
  if (depth > DEEPEST) return <p class="dim">…</p>;
  const inner = (of: Logic | null) => <Boxed logic={of} label={label} depth={depth + 1} />;
  switch (logic.kind) {
    case 'text':
      return (
        <pre class="json box" tabIndex={0} aria-label={label} role="group">
          {logic.text}
        </pre>
      );
    case 'table':
      return <Rules label={label} table={logic} known={known} />;
    case 'relation':
      return (
        <table class="boxed" aria-label={label}>
          <thead>
            <tr>
              {logic.columns.map((column, i) => (
                <th scope="col" key={i}>
                  {column || i + 1}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {logic.rows.map((row, i) => (
              <tr key={i}>
                {row.map((cell, j) => (
                  <td key={j}>{inner(cell)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      );
    case 'parts':
      return (
        <table class="boxed" aria-label={label}>
          <tbody>
            {logic.parts.map(({ name, type, logic: each }, i) => (
              <tr key={i}>
                {name || type ? (
                  <th scope="row">
                    {name}
                    {type && <small>{type}</small>}
                  </th>
                ) : (
                  <td>=</td>
                )}
                <td>{inner(each)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      );
  }
}
