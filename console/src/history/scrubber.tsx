// The history of an instance: a slider over its events, and their list. What is shown is the fold up to there.

import { useEffect, useRef } from 'preact/hooks';
import { shortPosition } from '../lib/commands.ts';
import { t } from '../lib/i18n.ts';
import { pageKey } from '../lib/keys.ts';
import { historyKind } from '../lib/settings.ts';
import { clock } from '../lib/time.ts';
import type { Shown, Step, View } from './fold.ts';
import { CHOICES, elementOf, lookOf, placesOf, subjectOf } from './words.ts';

const TICKS = 400;
const ROWS = 300;

type ScrubberProps = {
  shown: Shown[];
  at: number | null;
  view: View;
  name: (id: string) => string;
  more: boolean;
  loading: boolean;
  onAt: (at: number | null) => void;
  onSelect: (id: string) => void;
};

function Ticks({ shown }: { shown: Step[] }) {
  if (shown.length > TICKS) return null;
  return (
    <div class="ticks" aria-hidden="true">
      {shown.map((step, i) => {
        const { tone } = lookOf(step.event);
        return tone === 'command' || tone === 'bad' ? (
          <i key={i} class={tone} style={{ left: `${(i / Math.max(1, shown.length - 1)) * 100}%` }} />
        ) : null;
      })}
    </div>
  );
}

/** Keep the current event in sight, without moving the page. */
function useInSight(place: number) {
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    const ol = list.current;
    const row = ol?.querySelector<HTMLElement>('.now');
    if (!ol || !row) return;
    const top = row.offsetTop - ol.offsetTop;
    if (top < ol.scrollTop || top + row.offsetHeight > ol.scrollTop + ol.clientHeight)
      ol.scrollTop = top - ol.clientHeight + row.offsetHeight + 8;
  }, [place]);
  return list;
}

export function Scrubber({ shown, at, view, name, more, loading, onAt, onSelect }: ScrubberProps) {
  const last = shown.length;
  const place = at === null ? last : Math.max(1, shown.findLastIndex((step) => step.after <= at) + 1);
  const list = useInSight(place);
  const to = (n: number) => onAt(n >= last ? null : shown[Math.max(0, n - 1)]!.after);
  pageKey('[', () => to(place - 1));
  pageKey(']', () => to(place + 1));
  const now = shown[place - 1];
  if (!now)
    return (
      <section class="timeline" aria-label={t('history')}>
        <p class="dim pad">{t(loading ? 'loading' : 'history.none')}</p>
      </section>
    );
  const line = (step: Shown) => `${t(lookOf(step.event).word)} ${subjectOf(step, view, name)}`;
  const places = placesOf(shown, historyKind.value, place - 1);
  const before = places.filter((i) => i < place).length;
  const from = Math.max(0, Math.min(before - ROWS / 2, places.length - ROWS));
  return (
    <section class="timeline" aria-label={t('history')}>
      <div class="bar">
        <button type="button" aria-label={t('history.previous')} disabled={place <= 1} onClick={() => to(place - 1)}>
          ‹
        </button>
        <button type="button" aria-label={t('history.next')} disabled={place >= last} onClick={() => to(place + 1)}>
          ›
        </button>
        <div class="track">
          <Ticks shown={shown} />
          <input
            type="range"
            min={1}
            max={last}
            value={place}
            aria-label={t('history.position')}
            aria-valuetext={`${line(now)}, ${place} / ${last}`}
            onInput={(event) => to(Number(event.currentTarget.value))}
          />
        </div>
        <output>{clock(now.at)}</output>
        <select
          aria-label={t('history.kind')}
          value={historyKind.value}
          onChange={(event) => {
            historyKind.value = event.currentTarget.value;
          }}
        >
          {CHOICES.map(([value, text]) => (
            <option key={value} value={value}>
              {t(text)}
            </option>
          ))}
        </select>
        <button
          type="button"
          class={at === null ? 'live on' : 'live'}
          aria-pressed={at === null}
          onClick={() => onAt(null)}
        >
          {t(at === null ? 'history.live' : 'history.back')}
        </button>
      </div>
      <ol class="events" ref={list} aria-label={t('history.events')} tabIndex={0}>
        {places.slice(from, from + ROWS).map((i) => {
          const step = shown[i]!;
          const n = i + 1;
          const look = lookOf(step.event);
          return (
            <li key={n} class={n === place ? 'now' : n > place ? 'later' : ''}>
              <button
                type="button"
                onClick={() => {
                  to(n);
                  const id = elementOf(step, view);
                  if (id) onSelect(id);
                }}
              >
                <span class={`ico ${look.tone}`} aria-hidden="true">
                  {look.icon}
                </span>
                <time>{clock(step.at)}</time>
                <b class={look.tone}>{t(look.word)}</b>
                <span class="what">{subjectOf(step, view, name)}</span>
                <code title={step.position}>{shortPosition(step.position)}</code>
              </button>
            </li>
          );
        })}
        {!places.length && <li class="dim pad">{t('history.noKind')}</li>}
        {more && <li class="dim pad">{t('history.more')}</li>}
      </ol>
      <span class="sr" aria-live="polite">
        {at === null ? '' : t('history.past', { time: clock(now.at) })}
      </span>
    </section>
  );
}
