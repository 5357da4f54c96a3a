// The rest of a short list: how many there are, and the way to more.
import { type Counted, counted, t } from '../lib/i18n.ts';
import type { Growing } from '../lib/pages.ts';
import type { Page } from '../lib/shapes.ts';

type RestProps = {
  count: Counted;
  page: Pick<Page<unknown>, 'items' | 'page'> | undefined;
  /** The way to more of them here, and back to the first ones. */
  steps?: Partial<Pick<Growing<unknown>, 'more' | 'first' | 'skipped'>>;
  /** The number of the page's rows that are shown, if not all. */
  shown?: number;
  /** The page with all of them. */
  to?: string;
};

/** Nothing if the list has all. */
export function Rest({ count, page, steps = {}, shown = page?.items.length ?? 0, to }: RestProps) {
  const { more, first, skipped = 0 } = steps;
  if (!page || page.page.totalItems <= shown) return null;
  return (
    <p class="dim rest">
      {t('rest', {
        shown: skipped ? `${skipped + 1}–${skipped + shown}` : shown,
        all: counted(count, page.page),
      })}{' '}
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
