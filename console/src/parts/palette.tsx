// Ctrl K: go to a page, a process, a decision, or an instance. Arrow keys choose, Enter opens.
import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { search } from '../lib/api.ts';
import { t } from '../lib/i18n.ts';
import { paletteOpen, takeTyped } from '../lib/keys.ts';
import { useResource } from '../lib/resource.ts';
import { go, href } from '../lib/router.ts';
import type { DecisionDefinition, Definition, Instance } from '../lib/shapes.ts';
import { decisionUrl, processUrl } from '../lib/urls.ts';
import { Dialog } from './dialog.tsx';
import { PLACES } from './places.ts';

type Choice = { to: string; name: string; kind: string };

const PAUSE_MS = 200;
const MOST = 12;

const close = (): void => {
  paletteOpen.value = false;
};
const includes = (text: string, part: string): boolean => text.toLowerCase().includes(part.toLowerCase());

/** The text after the user has stopped typing for a moment. */
function useSettled(text: string): string {
  const settled = useSignal('');
  useEffect(() => {
    const timer = window.setTimeout(() => {
      settled.value = text;
    }, PAUSE_MS);
    return () => window.clearTimeout(timer);
  }, [text]);
  return settled.value;
}

/** The instances with exactly this business id. */
function useInstances(text: string): Instance[] {
  const body = {
    filter: { businessId: text },
    sort: [{ field: 'startDate', order: 'DESC' as const }],
    page: { limit: 5 },
  };
  const found = useResource(text && `palette ${text}`, (abort) => search<Instance>('process-instances', body, abort))
    .data.value;
  return text ? (found?.items ?? []) : [];
}

/** The latest versions of all processes or decisions. */
const useLatest = <T,>(resource: string): T[] =>
  useResource(`palette ${resource}`, (abort) =>
    search<T>(resource, { filter: { isLatestVersion: true }, page: { limit: 200 } }, abort),
  ).data.value?.items ?? [];

function useChoices(text: string): Choice[] {
  const definitions = useLatest<Definition>('process-definitions');
  const decisions = useLatest<DecisionDefinition>('decision-definitions');
  const instances = useInstances(useSettled(text));
  const places = PLACES.filter(([, name]) => includes(t(name), text)).map(([to, name]) => ({
    to: href(to),
    name: t(name),
    kind: '',
  }));
  if (!text) return places.slice(0, MOST);
  const named = [
    ...definitions.map(({ processDefinitionId: id, name, tenantId }) => ({
      id,
      name,
      to: processUrl(id, tenantId),
      kind: t('process'),
    })),
    ...decisions.map(({ decisionDefinitionId: id, name, tenantId }) => ({
      id,
      name,
      to: decisionUrl(id, tenantId),
      kind: t('decision'),
    })),
  ]
    .filter(({ id, name }) => includes(`${name ?? ''} ${id}`, text))
    .map(({ id, name, ...choice }) => ({ ...choice, name: name || id }));
  const found = instances.map((i) => ({
    to: href(`/instances/${i.processInstanceKey}`),
    name: i.businessId ?? i.processInstanceKey,
    kind: i.processDefinitionName ?? i.processDefinitionId,
  }));
  const key = /^\d{10,}$/.test(text) ? [{ to: href(`/instances/${text}`), name: text, kind: t('instance') }] : [];
  const all = { to: href('/instances', { state: 'all', q: text }), name: t('palette.find', { text }), kind: '' };
  return [...key, ...found, ...places, ...named].slice(0, MOST - 1).concat(all);
}

export function Palette() {
  const text = useSignal(useMemo(takeTyped, []));
  const at = useSignal(0);
  const choices = useChoices(text.value.trim());
  const chosen = Math.min(at.value, choices.length - 1);
  const open = (choice: Choice | undefined) => {
    if (choice) {
      close();
      go(choice.to);
    }
  };
  const pressed = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (!by) return;
    event.preventDefault();
    at.value = (chosen + by + choices.length) % choices.length;
    document.getElementById(`choice-${at.value}`)?.scrollIntoView({ block: 'nearest' });
  };
  return (
    <Dialog title={t('palette.title')} onClose={close}>
      <form
        class="palette"
        onSubmit={(event) => {
          event.preventDefault();
          open(choices[chosen]);
        }}
      >
        <input
          type="search"
          autofocus
          role="combobox"
          aria-expanded="true"
          aria-controls="choices"
          aria-activedescendant={`choice-${chosen}`}
          placeholder={t('palette.hint')}
          aria-label={t('palette.hint')}
          value={text.value}
          onKeyDown={pressed}
          onInput={(event) => {
            text.value = event.currentTarget.value;
            at.value = 0;
          }}
        />
        <ul id="choices" role="listbox" aria-label={t('palette.title')}>
          {choices.map((choice, i) => (
            <li
              key={choice.to}
              id={`choice-${i}`}
              role="option"
              aria-selected={i === chosen}
              onClick={() => open(choice)}
            >
              <span>{choice.name}</span>
              <span class="dim">{choice.kind}</span>
            </li>
          ))}
        </ul>
      </form>
    </Dialog>
  );
}
