// Times: local ones on the page, with UTC on hover; durations in one or two units.
import { language } from './i18n.ts';

const pad = (n: number, width = 2): string => String(n).padStart(width, '0');

/** The time of day with milliseconds, local. */
export function clock(iso: string): string {
  const d = new Date(iso);
  return `${pad(d.getHours())}:${pad(d.getMinutes())}:${pad(d.getSeconds())}.${pad(d.getMilliseconds(), 3)}`;
}

/** Date and time, local: without the date for today, without the year for this year. */
export function when(iso: string, now = new Date()): string {
  const d = new Date(iso);
  const time: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false };
  if (d.toDateString() === now.toDateString()) return d.toLocaleTimeString(language.value, time);
  const date: Intl.DateTimeFormatOptions = {
    day: 'numeric',
    month: 'short',
    ...(d.getFullYear() !== now.getFullYear() && { year: 'numeric' }),
  };
  return d.toLocaleString(language.value, { ...date, hour: '2-digit', minute: '2-digit', hour12: false });
}

/** The day, local, without the year. */
export const day = (iso: string): string =>
  new Date(iso).toLocaleDateString(language.value, { day: 'numeric', month: 'short' });

/** UTC, as the API writes it. */
export const utc = (iso: string): string => new Date(iso).toISOString();

const UNITS: readonly [string, number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
];

/** A duration in one or two units: `2 d 3 h`, `4 min 10 s`, `1.2 s`, `6 ms`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const i = UNITS.findIndex(([, size]) => ms >= size);
  const [unit, size] = UNITS[i]!;
  const next = UNITS[i + 1];
  const rest = next ? Math.floor((ms % size) / next[1]) : 0;
  return `${Math.floor(ms / size)} ${unit}${next && rest ? ` ${rest} ${next[0]}` : ''}`;
}

export const between = (from: string, to: string): string => duration(Date.parse(to) - Date.parse(from));
export const ago = (iso: string, now = Date.now()): string => duration(now - Date.parse(iso));
