// Start before chosen elements instead of at the start event.
import { useMemo } from 'preact/hooks';
import { t } from '../lib/i18n.ts';
import { modelOf } from '../lib/models.ts';
import { flowNodesOf } from '../lib/operations/flow_nodes.ts';
import { useResource } from '../lib/resource.ts';
import type { Definition } from '../lib/shapes.ts';

export function StartBefore({
  definition,
  chosen,
  onChange,
}: {
  definition: Definition;
  chosen: readonly string[];
  onChange: (ids: string[]) => void;
}) {
  const key = definition.processDefinitionKey;
  const xml = useResource(`xml ${key}`, () => modelOf(key)).data.value;
  const elements = useMemo(
    () => (xml ? flowNodesOf(xml, definition.processDefinitionId).filter(({ isFirst }) => isFirst) : []),
    [xml],
  );
  if (!elements.length) return null;
  const toggle = (id: string) => onChange(chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id]);
  return (
    <details class="commands">
      <summary>
        {t('start.before')}
        {chosen.length > 0 && `: ${chosen.join(', ')}`}
      </summary>
      <fieldset class="checks">
        <legend class="sr">{t('start.before')}</legend>
        {elements.map(({ id, name }) => (
          <label key={id} class="check">
            <input type="checkbox" checked={chosen.includes(id)} onChange={() => toggle(id)} /> {name || id}{' '}
            {name && <code class="dim">{id}</code>}
          </label>
        ))}
      </fieldset>
    </details>
  );
}
