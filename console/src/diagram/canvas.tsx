// A diagram on a page. The chunk with bpmn-js is loaded with the first one.
import { type ReadonlySignal, type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../lib/i18n.ts';
import { inspector, minimap } from '../lib/settings.ts';
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
  /** Whether the page has an inspector that can be folded away. */
  foldable?: boolean;
};

/** Load the chunk while the page asks for its data. */
export const warmUp = (): void => void import('./diagram.ts').catch(() => {});

/** The page takes the whole screen, without navigation and history, or gives it back, as Escape does. A browser may refuse. */
const fullScreen = (): Promise<void> =>
  document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen();

const mapOf = async () => (await import('./minimap.ts')).minimapOptions;

/** A button that turns a setting of this browser on and off. */
const Switch = ({ of, ...button }: { of: Signal<'on' | 'off'>; class: string; children: ComponentChildren }) => (
  <button
    type="button"
    aria-pressed={of.value === 'on'}
    onClick={() => {
      of.value = of.value === 'on' ? 'off' : 'on';
    }}
    {...button}
  />
);

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
  foldable = false,
}: CanvasProps) {
  const host = useRef<HTMLDivElement>(null);
  const diagram = useSignal<Diagram | null>(null);
  const drawn = useSignal(false); // the buttons stay while it is drawn anew, and so does the focus on one of them
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
        const [shown, map] = await Promise.all([
          withDiagram(xml, process),
          minimap.peek() === 'on' ? mapOf().catch(() => undefined) : undefined, // without it the diagram is whole
        ]);
        if (gone) return;
        made = await loaded.createDiagram(host.current!, shown, words, onSelect, map);
        if (gone) return made.destroy();
        made.fit();
        names?.(made.names());
        diagram.value = made;
        drawn.value = true;
      })
      .catch((error: Error) => {
        if (gone) return;
        failed.value = error.message;
        drawn.value = false;
      });
    const watcher = new ResizeObserver(() => made?.fit());
    watcher.observe(host.current!);
    return () => {
      gone = true;
      watcher.disconnect();
      diagram.value = null;
      made?.destroy();
    };
  }, [xml, process, minimap.value]);
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
      <div class="zoom">
        {drawn.value && (
          <>
            <button type="button" onClick={() => on?.zoom(1.25)} aria-label={t('zoom.in')}>
              +
            </button>
            <button type="button" onClick={() => on?.zoom(0.8)} aria-label={t('zoom.out')}>
              −
            </button>
            <button type="button" onClick={() => on?.fit()}>
              {t('zoom.fit')}
            </button>
            <Switch of={minimap} class="wide">
              {t('zoom.map')}
            </Switch>
            {document.fullscreenEnabled && (
              <button type="button" onClick={() => void fullScreen().catch(() => {})}>
                {t('zoom.full')}
              </button>
            )}
          </>
        )}
        {foldable && (
          <Switch of={inspector} class="wide">
            {t('details')}
          </Switch>
        )}
      </div>
      {failed.value !== null && (
        <div class="empty">
          <p>{t('diagram.failed')}</p>
          <p class="dim">{failed.value}</p>
        </div>
      )}
    </div>
  );
}
