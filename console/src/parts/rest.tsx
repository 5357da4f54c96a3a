// What a short list does not show: how many there are, and the way to more.
import { t, total } from '../lib/i18n.ts';
import type { PageInfo } from '../lib/shapes.ts';

type RestProps = {
  shown: number;
  of: PageInfo | undefined;
  /** Shows more here; null: all that can be shown. */
  more?: (() => void) | null;
  /** The page with all of them. */
  to?: string;
};

/** Nothing if the list has all. */
export function Rest({ shown, of, more, to }: RestProps) {
  if (!of || of.totalItems <= shown) return null;
  return (
    <p class="dim rest">
      {t('rest', { shown, n: total(of) })}{' '}
      {more && (
        <button type="button" class="link" onClick={more}>
          {t('rest.more')}
        </button>
      )}{' '}
      {to && <a href={to}>{t('rest.all')}</a>}
    </p>
  );
}
