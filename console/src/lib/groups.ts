// Incidents of one cause: their messages differ only in their data. The server counts them.
import { wordsOf } from './commands.ts';
import { t } from './i18n.ts';
import type { CauseCount, Incident } from './shapes.ts';

/** A cause, wherever it occurs: at its `places` are all of its active incidents. */
export type Group = { cause: number; message: string; total: number; places: CauseCount[] };

/** The causes with the most incidents first. */
export function grouped(counts: readonly CauseCount[]): Group[] {
  const groups = new Map<number, Group>();
  for (const place of counts) {
    const group = groups.get(place.causeHashCode) ?? {
      cause: place.causeHashCode,
      message: place.errorMessage,
      total: 0,
      places: [],
    };
    group.places.push(place);
    group.total += place.activeIncidentsCount;
    groups.set(group.cause, group);
  }
  return [...groups.values()].sort((a, b) => b.total - a.total);
}

/** The kind of an incident in words. */
export function kindOf(errorType: string): string {
  if (errorType.endsWith('NO_RETRIES')) return t('error.noRetries');
  const words = wordsOf(errorType);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const PLACE = ['causeHashCode', 'processDefinitionId', 'tenantId', 'elementId', 'errorType'] as const;

/** The incidents at a place among these. */
export const incidentsAt = (place: CauseCount, incidents: readonly Incident[]): Incident[] =>
  incidents.filter((incident) => PLACE.every((name) => incident[name] === place[name]));

/** The filter of all active incidents at a place. */
export const placeFilter = (place: CauseCount): Record<string, unknown> => ({
  state: 'ACTIVE',
  ...Object.fromEntries(PLACE.map((name) => [name, place[name]])),
});
