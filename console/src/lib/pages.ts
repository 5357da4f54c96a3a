// Lists inside of pages: the first rows, and on demand more. A change on the server reads again as many as are shown.
import { useSignal } from '@preact/signals';
import { search } from './api.ts';
import { type Resource, useResource } from './resource.ts';
import type { Page, SearchRequest } from './shapes.ts';

/** The most rows that a page shows without being slow. */
const MOST = 2_500;
const FACTOR = 5;

export type Growing<T> = Resource<Page<T>> & {
  /** Show more of them; null if all are shown, or as many as possible. */
  more: (() => void) | null;
};

/** The first `size` that a search finds. Without a filter nothing is asked for. */
export function useGrowing<T>(
  resource: string,
  filter: Record<string, unknown> | null,
  sort: SearchRequest['sort'],
  size: number,
  topics: readonly string[],
): Growing<T> {
  const limit = useSignal(size);
  const body = { filter: filter ?? {}, sort: sort ?? [], page: { limit: limit.value } };
  const found = useResource<Page<T>>(
    filter ? `${resource} ${JSON.stringify(body)}` : '',
    (abort) => search<T>(resource, body, abort),
    topics,
  );
  const page = found.data.value;
  const isAll = !page || page.items.length < limit.value || page.page.totalItems <= page.items.length;
  const more = () => {
    limit.value = Math.min(MOST, limit.value * FACTOR);
  };
  return { ...found, more: isAll || limit.value >= MOST ? null : more };
}
