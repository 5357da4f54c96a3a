// Lists inside of pages: the first rows, and on demand more. A change on the server reads again as many as are shown.
import { useSignal } from '@preact/signals';
import { search } from './api.ts';
import { type Resource, useResource } from './resource.ts';
import type { Page, SearchRequest } from './shapes.ts';

/** The most rows that a page shows without being slow. */
export const MOST = 500;
export const FACTOR = 5;

export type Growing<T, P extends Page<T> = Page<T>> = Resource<P> & {
  /** Show more of them, or those after the last one if a page cannot hold more; null at the end. */
  more: (() => void) | null;
  /** Back to the first of them, if some are left out before those that are shown. */
  first: (() => void) | null;
  skipped: number;
};

/** The first `size` that a search finds. Without a filter nothing is asked for. `load` reads what is no search. */
export function useGrowing<T, P extends Page<T> = Page<T>>(
  resource: string,
  filter: Record<string, unknown> | null,
  sort: SearchRequest['sort'],
  size: number,
  topics: readonly string[],
  load = (body: SearchRequest, abort: AbortSignal): Promise<P> => search<T>(resource, body, abort) as Promise<P>,
): Growing<T, P> {
  const limit = useSignal(size);
  const from = useSignal<{ after?: string; skipped: number }>({ skipped: 0 });
  const { skipped, ...cursor } = from.value;
  const body = { filter: filter ?? {}, sort: sort ?? [], page: { limit: limit.value, ...cursor } };
  const found = useResource<P>(
    filter ? `${resource} ${JSON.stringify(body)}` : '',
    (abort) => load(body, abort),
    topics,
  );
  const page = found.data.value;
  const shown = page?.items.length ?? 0;
  const isAll =
    !page?.page.endCursor ||
    shown < limit.value ||
    (!page.page.hasMoreTotalItems && page.page.totalItems <= skipped + shown);
  const more = () => {
    if (limit.value < MOST) limit.value = Math.min(MOST, limit.value * FACTOR);
    else from.value = { after: page!.page.endCursor!, skipped: skipped + shown };
  };
  const first = () => {
    from.value = { skipped: 0 };
  };
  return { ...found, more: isAll ? null : more, first: skipped ? first : null, skipped };
}
