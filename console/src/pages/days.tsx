// A chart of the past days: how many instances began and ended, how many incidents there were, and how many ran.
import { get } from '../lib/api.ts';
import { number, t } from '../lib/i18n.ts';
import { useResource } from '../lib/resource.ts';
import { day } from '../lib/time.ts';

const SERIES = ['started', 'ended', 'incidents'] as const;
const HEIGHT = 100;
/** The width of a bar, and of a day with its gap. */
const BAR = 6;
const STEP = BAR * (SERIES.length + 1);
const DAY_MS = 86_400_000;

type Day = { startTime: string; running: number | null } & Record<(typeof SERIES)[number], number>;

/** A day of 24 hours is that of its middle: before clocks changed, days begin an hour before or after midnight. */
const named = ({ startTime }: Day): string => day(new Date(Date.parse(startTime) + DAY_MS / 2).toISOString());

/** The beginning of this many days of 24 hours that end with today, also if a day among them has 23 or 25 hours. */
export function firstDay(days: number): string {
  return new Date(new Date().setHours(24, 0, 0, 0) - days * DAY_MS).toISOString();
}

/** A page that stays open reads figures again once an hour. */
export const hour = (): string => new Date().toISOString().slice(0, 13);

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

/** The number of instances that ran at the end of each day, as steps. */
function Backlog({ days }: { days: readonly Day[] }) {
  const most = Math.max(1, ...days.map(({ running }) => running ?? 0));
  return (
    <>
      <p class="dim">
        {t('figures.running')}: <b>{number(days.at(-1)?.running ?? 0)}</b>, {t('figures.atEnd')}
      </p>
      <svg class="backlog" viewBox={`0 0 ${days.length} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {days.map(({ startTime, running }, i) => {
          const height = ((running ?? 0) / most) * HEIGHT;
          return <rect key={startTime} class="started" x={i} y={HEIGHT - height} width={0.95} height={height} />;
        })}
      </svg>
      <p class="dim axis" aria-hidden="true">
        <span>{named(days[0]!)}</span>
        <span>{t('days.most', { n: number(most) })}</span>
        <span>{t('days.today')}</span>
      </p>
    </>
  );
}

type DaysProps = {
  /** The days, today among them. */
  days?: number;
  /** Its id; without one, all processes. */
  process?: string;
  /** The processes of its tenant; without one, all of them. */
  tenant?: string;
  /** Show how many ran, too. */
  backlog?: boolean;
};

/** The bars, and for those who do not see them a table. */
export function Days({ days = 14, process = '', tenant = '', backlog = false }: DaysProps) {
  const found = useResource<{ items: Day[] }>(`days ${days} ${process} ${tenant} ${hour()}`, async (abort) => {
    const query = new URLSearchParams({ startTime: firstDay(days), days: `${days}` });
    if (process) query.set('processDefinitionId', process);
    if (tenant) query.set('tenantId', tenant);
    return get<{ items: Day[] }>(`/v2/process-instances/statistics/by-day?${query}`, abort);
  });
  const { items = [] } = found.data.value ?? {};
  const most = Math.max(0, ...items.flatMap((one) => SERIES.map((name) => one[name])));
  if (!most && !items.some(({ running }) => running)) return null; // nothing to show, or the user may not see it
  const sum = (name: (typeof SERIES)[number]) => number(items.reduce((all, one) => all + one[name], 0));
  return (
    <figure class="days">
      <figcaption>
        <h2>{t('days.title', { n: days })}</h2>
        <p class="dim">
          {SERIES.map((name) => (
            <span key={name} class={name}>
              <i aria-hidden="true" /> {t(`days.${name}`)}: <b>{sum(name)}</b>
            </span>
          ))}
        </p>
      </figcaption>
      <Bars days={items} most={most || 1} />
      <p class="dim axis" aria-hidden="true">
        <span>{named(items[0]!)}</span>
        <span>{t('days.most', { n: number(most) })}</span>
        <span>{t('days.today')}</span>
      </p>
      {backlog && <Backlog days={items} />}
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
              {backlog && <th scope="col">{t('figures.running')}</th>}
            </tr>
          </thead>
          <tbody>
            {items.map((one) => (
              <tr key={one.startTime}>
                <th scope="row">{named(one)}</th>
                {SERIES.map((name) => (
                  <td key={name}>{number(one[name])}</td>
                ))}
                {backlog && <td>{one.running === null ? '–' : number(one.running)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
