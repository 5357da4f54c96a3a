// What a short list does not show: how many there are, and the way to more.
import { t, total } from '../lib/i18n.ts';
import type { PageInfo } from '../lib/shapes.ts';

type RestProps = {
  shown: number;
  of: PageInfo | undefined;
  /** Shows more here; null: there are no more. */
  more?: (() => void) | null;
  /** Goes back to the first of them, if `skipped` of them are left out. */
  first?: (() => void) | null;
  skipped?: number;
  /** The page with all of them. */
  to?: string;
};

/** Nothing if the list has all. */
export function Rest({ shown, of, more, first, skipped = 0, to }: RestProps) {
  if (!of || of.totalItems <= shown) return null;
  return (
    <p class="dim rest">
      {t('rest', { shown: skipped ? `${skipped + 1}–${skipped + shown}` : shown, n: total(of) })}{' '}
      {first && (
        <button type="button" class="link" onClick={first}>
          {t('page.first')}
        </button>
      )}{' '}
      {more && (
        <button type="button" class="link" onClick={more}>
          {t('rest.more')}
        </button>
      )}{' '}
      {to && <a href={to}>{t('rest.all')}</a>}
    </p>
  );
}
