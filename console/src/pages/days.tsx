// A chart of the past days: how many instances began and ended, and how many incidents there were.
import { get } from '../lib/api.ts';
import { number, t } from '../lib/i18n.ts';
import { useResource } from '../lib/resource.ts';
import { day } from '../lib/time.ts';

const DAYS = 14;
const SERIES = ['started', 'ended', 'incidents'] as const;
const HEIGHT = 100;
/** The width of a bar, and of a day with its gap. */
const BAR = 6;
const STEP = BAR * (SERIES.length + 1);

type Day = { startTime: string } & Record<(typeof SERIES)[number], number>;
type Found = { items: Day[]; mostCounted: number };

/** A day of 24 hours is that of its middle: where clocks change, the later ones begin an hour before or after midnight. */
const named = ({ startTime }: Day): string => day(new Date(Date.parse(startTime) + 43_200_000).toISOString());

/** The beginning of the local day from which this many days last until the end of today. */
function firstDay(): string {
  const now = new Date();
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - DAYS + 1).toISOString();
}

function Bars({ days, most }: { days: readonly Day[]; most: number }) {
  return (
    <svg viewBox={`0 0 ${days.length * STEP} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {days.map((one, i) =>
        SERIES.map((name, j) => {
          const height = one[name] && Math.max(1.5, (one[name] / most) * HEIGHT);
          return (
            <rect key={name} class={name} x={i * STEP + j * BAR} y={HEIGHT - height} width={BAR - 1} height={height} />
          );
        }),
      )}
    </svg>
  );
}

/** The bars, and for those who do not see them a table. */
export function Days() {
  const hour = new Date().toISOString().slice(0, 13); // a page that stays open reads them again, once an hour at most
  const found = useResource<Found>(`days ${hour}`, async (abort) => {
    const query = new URLSearchParams({ startTime: firstDay(), days: `${DAYS}` });
    return get<Found>(`/v2/process-instances/statistics/by-day?${query}`, abort);
  });
  const { items = [], mostCounted = 0 } = found.data.value ?? {};
  const most = Math.max(0, ...items.flatMap((one) => SERIES.map((name) => one[name])));
  if (!most) return null; // nothing to show, or the user may not see it
  const told = (...counts: number[]) =>
    number(counts.reduce((sum, n) => sum + n, 0)) + (counts.some((n) => n >= mostCounted) ? '+' : '');
  return (
    <figure class="days">
      <figcaption>
        <h2>{t('days.title')}</h2>
        <p class="dim">
          {SERIES.map((name) => (
            <span key={name} class={name}>
              <i aria-hidden="true" /> {t(`days.${name}`)}: <b>{told(...items.map((one) => one[name]))}</b>
            </span>
          ))}
        </p>
      </figcaption>
      <Bars days={items} most={most} />
      <p class="dim axis" aria-hidden="true">
        <span>{named(items[0]!)}</span>
        <span>{t('days.most', { n: told(most) })}</span>
        <span>{t('days.today')}</span>
      </p>
      <div class="sr">
        <table>
          <thead>
            <tr>
              <th scope="col">{t('days.day')}</th>
              {SERIES.map((name) => (
                <th key={name} scope="col">
                  {t(`days.${name}`)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {items.map((one) => (
              <tr key={one.startTime}>
                <th scope="row">{named(one)}</th>
                {SERIES.map((name) => (
                  <td key={name}>{told(one[name])}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
