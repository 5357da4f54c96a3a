// Two people edit one thing: both values beside each other, and the choice.
import { t } from '../lib/i18n.ts';

/** A value that somebody changed meanwhile: as it was when the dialog opened, as it is now, and as it would become. */
export type Difference = { name: string; before: string; theirs: string; mine: string };

/** The differences of those values that changed meanwhile, unless both made the same of them. */
export function differences(
  before: Record<string, string>,
  theirs: Record<string, string>,
  mine: Record<string, string>,
): Difference[] {
  return Object.keys(mine)
    .filter((name) => theirs[name] !== before[name] && theirs[name] !== mine[name])
    .map((name) => ({ name, before: before[name] ?? '', theirs: theirs[name] ?? '', mine: mine[name]! }));
}

const Value = ({ of }: { of: string }) => (of === '' ? <span class="dim">–</span> : <code>{of}</code>);

export function Conflict({ of }: { of: readonly Difference[] }) {
  return (
    <div class="problem" role="alert">
      <p>
        <b>{t('conflict.title')}</b> {t('conflict.text')}
      </p>
      <table class="small conflict">
        <thead>
          <tr>
            <td />
            <th scope="col">{t('conflict.before')}</th>
            <th scope="col">{t('conflict.theirs')}</th>
            <th scope="col">{t('conflict.mine')}</th>
          </tr>
        </thead>
        <tbody>
          {of.map((one) => (
            <tr key={one.name}>
              <th scope="row">{one.name}</th>
              <td>
                <Value of={one.before} />
              </td>
              <td>
                <Value of={one.theirs} />
              </td>
              <td>
                <Value of={one.mine} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
