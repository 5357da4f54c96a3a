// The mappings as a table: the same as the lines between the diagrams, and without a pointer.
import type { Signal } from '@preact/signals';
import { type Key, number, t } from '../../lib/i18n.ts';
import type { FlowNode } from '../../lib/operations/flow_nodes.ts';
import type { Suggested } from '../../lib/operations/migration.ts';

const REASONS: Record<string, Key> = {
  SAME_ID: 'migrate.sameId',
  SAME_NAME: 'migrate.sameName',
  SAME_CONTENT: 'migrate.sameContent',
  SAME_NEIGHBOURS: 'migrate.sameNeighbours',
};
type Named = (id: string) => string;

export type MappingsProps = {
  elements: readonly Suggested[];
  live: ReadonlyMap<string, number>;
  targetOf: (id: string) => string | null;
  /** The choices of people: source → target, or null for none. */
  edits: Signal<ReadonlyMap<string, string | null>>;
  picked: Signal<string | null>;
  targets: readonly FlowNode[];
  names: { from: Named; to: Named };
};
type RowProps = Omit<MappingsProps, 'elements'> & { of: Suggested };

function reasonOf({ of, edits, targetOf }: RowProps): string {
  if (edits.value.has(of.elementId)) return t('migrate.chosen');
  return targetOf(of.elementId) && of.reason ? t(REASONS[of.reason]!) : '';
}

export const choose = (edits: MappingsProps['edits'], from: string, to: string | null): void => {
  edits.value = new Map([...edits.peek(), [from, to]]);
};

function Row(props: RowProps) {
  const { of, live, targetOf, edits, picked, targets, names } = props;
  const id = of.elementId;
  const target = targetOf(id);
  const tokens = live.get(id) ?? 0;
  return (
    <tr class={picked.value === id ? 'now' : undefined}>
      <th scope="row">
        <button
          type="button"
          class="link"
          aria-pressed={picked.value === id}
          onClick={() => {
            picked.value = picked.value === id ? null : id;
          }}
        >
          {names.from(id)}
        </button>
      </th>
      <td class="number">{tokens > 0 && number(tokens)}</td>
      <td>
        {picked.value === id ? (
          <select
            aria-label={t('migrate.targetOf', { name: names.from(id) })}
            value={target ?? ''}
            onChange={(event) => choose(edits, id, event.currentTarget.value || null)}
          >
            <option value="">{t('migrate.nothing')}</option>
            {targets.map((node) => (
              <option key={node.id} value={node.id}>
                {names.to(node.id)}
              </option>
            ))}
          </select>
        ) : target ? (
          names.to(target)
        ) : (
          <span class={tokens ? 'bad' : 'dim'}>{t('migrate.nothing')}</span>
        )}{' '}
        <small class="dim">{reasonOf(props)}</small>
      </td>
    </tr>
  );
}

/** First those with tokens, then the others. */
export function MappingsTable({ elements, ...rest }: MappingsProps) {
  const tokens = (one: Suggested) => rest.live.get(one.elementId) ?? 0;
  return (
    <table class="small" aria-label={t('migrate.mappings')}>
      <thead>
        <tr>
          <th scope="col">{t('migrate.from')}</th>
          <th scope="col">{t('n.active')}</th>
          <th scope="col">{t('migrate.to')}</th>
        </tr>
      </thead>
      <tbody>
        {[...elements]
          .sort((a, b) => Number(tokens(b) > 0) - Number(tokens(a) > 0))
          .map((one) => (
            <Row key={one.elementId} of={one} {...rest} />
          ))}
      </tbody>
    </table>
  );
}
