// A diagram on a page. The chunk with bpmn-js is loaded with the first one.
import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../lib/i18n.ts';
import { type Badges, instanceBadges } from './badges.ts';
import type { Carrying } from './carrying.ts';
import type { Diagram } from './diagram.ts';
import { withDiagram } from './layout.ts';
import type { Marks } from './marks.ts';

export type CanvasProps = {
  /** Undefined: it is on its way. */
  xml: string | undefined;
  /** The id of the process that runs, if the file may have it as a global task. */
  process?: string | undefined;
  marks: Marks;
  badges?: Badges;
  selected: string | null;
  onSelect: (id: string) => void;
  heat?: ReadonlyMap<string, number> | null;
  travel?: string | null;
  names?: (names: Map<string, string>) => void;
  /** Tokens that can be dragged. */
  carrying?: Carrying | null;
  past?: ReadonlySignal<boolean>;
  made?: (diagram: Diagram | null) => void;
};

/** Load the chunk while the page asks for its data. */
export const warmUp = (): void => void import('./diagram.ts').catch(() => {});

/** The page takes the whole screen, without navigation and history, or gives it back, as Escape does. A browser may refuse. */
const fullScreen = (): Promise<void> =>
  document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen();

export function Canvas({
  xml,
  process,
  marks,
  badges,
  selected,
  onSelect,
  heat = null,
  travel = null,
  names,
  carrying = null,
  past,
  made: onMade,
}: CanvasProps) {
  const host = useRef<HTMLDivElement>(null);
  const diagram = useSignal<Diagram | null>(null);
  const failed = useSignal<string | null>(null);
  const rules = useRef(carrying);
  rules.current = carrying;
  useLayoutEffect(() => {
    if (!xml) return;
    let made: Diagram | undefined;
    let gone = false;
    const words = {
      diagram: t('diagram'),
      active: t('n.active'),
      incident: t('n.incidents'),
      completed: t('n.completed'),
      planned: t('modify.planned'),
    };
    failed.value = null;
    import('./diagram.ts')
      .then(async (loaded) => {
        if (gone) return;
        const shown = await withDiagram(xml, process);
        if (gone) return;
        made = await loaded.createDiagram(host.current!, shown, words, onSelect);
        if (gone) return made.destroy();
        made.fit();
        names?.(made.names());
        diagram.value = made;
      })
      .catch((error: Error) => {
        if (!gone) failed.value = error.message;
      });
    const watcher = new ResizeObserver(() => made?.fit());
    watcher.observe(host.current!);
    return () => {
      gone = true;
      watcher.disconnect();
      diagram.value = null;
      made?.destroy();
    };
  }, [xml, process]);
  useEffect(() => {
    diagram.value?.show(marks, badges ?? instanceBadges);
  }, [diagram.value, marks]);
  useEffect(() => {
    diagram.value?.heat(heat);
  }, [diagram.value, heat]);
  useEffect(() => {
    diagram.value?.select(selected);
  }, [diagram.value, selected]);
  useEffect(() => {
    if (!diagram.value || !rules.current) return;
    return diagram.value.carry({
      from: (id) => rules.current?.from(id) ?? null,
      to: (id, from) => rules.current?.to(id, from) ?? false,
      onDrop: (from, to) => rules.current?.onDrop(from, to),
    });
  }, [diagram.value, carrying !== null]);
  useEffect(() => onMade?.(diagram.value), [diagram.value]);
  useEffect(() => {
    if (travel) diagram.value?.travel(travel);
  }, [travel]);
  const on = diagram.value;
  return (
    <div class={past?.value ? 'canvas past' : 'canvas'} data-ready={on || failed.value !== null ? '' : undefined}>
      <div class="surface" ref={host} />
      {on && (
        <div class="zoom">
          <button type="button" onClick={() => on.zoom(1.25)} aria-label={t('zoom.in')}>
            +
          </button>
          <button type="button" onClick={() => on.zoom(0.8)} aria-label={t('zoom.out')}>
            −
          </button>
          <button type="button" onClick={() => on.fit()}>
            {t('zoom.fit')}
          </button>
          {document.fullscreenEnabled && (
            <button type="button" onClick={() => void fullScreen().catch(() => {})}>
              {t('zoom.full')}
            </button>
          )}
        </div>
      )}
      {failed.value !== null && (
        <div class="empty">
          <p>{t('diagram.failed')}</p>
          <p class="dim">{failed.value}</p>
        </div>
      )}
    </div>
  );
}
