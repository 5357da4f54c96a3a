// The border between two panes, which moves with the pointer or with arrow keys. The browser keeps its place.
import { useRef } from 'preact/hooks';
import { t } from '../lib/i18n.ts';
import { panes } from '../lib/settings.ts';

/** `least`, `most`, `usual`: pixels. `grows`: 1 if the pane becomes larger to the right or below, else -1. */
type DividerProps = {
  of: keyof typeof panes;
  along: 'x' | 'y';
  grows: 1 | -1;
  least: number;
  most: number;
  usual: number;
};

const STEP = 24;
const KEYS: Record<string, number> = { ArrowLeft: -STEP, ArrowUp: -STEP, ArrowRight: STEP, ArrowDown: STEP };

export function Divider({ of, along, grows, least, most, usual }: DividerProps) {
  const begin = useRef<{ at: number; size: number } | null>(null);
  const size = Number(panes[of].value) || usual;
  const place = (event: PointerEvent): number => (along === 'x' ? event.clientX : event.clientY);
  const set = (to: number): void => {
    panes[of].value = String(Math.round(Math.max(least, Math.min(most, to))));
  };
  const pressed = (event: KeyboardEvent): void => {
    const by = KEYS[event.key];
    if (event.key === 'Home') panes[of].value = '';
    else if (by) set(size + by * grows);
    else return;
    event.preventDefault();
  };
  return (
    <div
      class={`divider ${along}`}
      role="separator"
      tabIndex={0}
      aria-label={t(`pane.${of}`)}
      aria-orientation={along === 'x' ? 'vertical' : 'horizontal'}
      aria-valuenow={size}
      aria-valuemin={least}
      aria-valuemax={most}
      title={t('pane.move')}
      onKeyDown={pressed}
      onDblClick={() => {
        panes[of].value = '';
      }}
      onPointerDown={(event) => {
        begin.current = { at: place(event), size };
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        if (begin.current) set(begin.current.size + (place(event) - begin.current.at) * grows);
      }}
      onPointerUp={() => {
        begin.current = null;
      }}
      onPointerCancel={() => {
        begin.current = null;
      }}
    />
  );
}
