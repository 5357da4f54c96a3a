// A decision table as people know it: hit policy, inputs, outputs, annotations; page by page, because tables have up to thousands of rules.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { number, t } from '../lib/i18n.ts';
import { Check } from '../parts/check.tsx';
import type { Column, Rule, Table } from './model.ts';

const SIZE = 100;

/** Known facts: `values` of the inputs; by the number of a rule, from 1, `outputs` of those that matched, and `counts` of the matches of each. */
export type Known = {
  values?: readonly string[];
  outputs?: ReadonlyMap<number, readonly string[]>;
  counts?: ReadonlyMap<number, number> | null;
};

/** Items page by page. The pages belong to the place, not to the URL: a page may have many tables. */
export function Paged<T>({
  items,
  children,
}: {
  items: readonly T[];
  children: (some: readonly T[]) => ComponentChildren;
}) {
  const wanted = useSignal(0);
  const from = Math.min(wanted.value, Math.floor(Math.max(0, items.length - 1) / SIZE) * SIZE);
  const go = (to: number) => () => {
    wanted.value = to;
  };
  return (
    <>
      {children(items.slice(from, from + SIZE))}
      {items.length > SIZE && (
        <nav class="pager" aria-label={t('pages')}>
          <button type="button" disabled={from === 0} onClick={go(from - SIZE)}>
            {t('page.previous')}
          </button>
          <button type="button" disabled={from + SIZE >= items.length} onClick={go(from + SIZE)}>
            {t('page.next')}
          </button>
          <span class="dim">
            {t('rule.range', {
              from: number(from + 1),
              to: number(Math.min(items.length, from + SIZE)),
              all: number(items.length),
            })}
          </span>
        </nav>
      )}
    </>
  );
}

function ColumnHead({ column, value, end }: { column: Column; value?: string | undefined; end?: boolean }) {
  return (
    <th scope="col" class={end ? 'out' : undefined}>
      {column.label || column.text || column.id || '–'}
      {column.label && column.text && <code>{column.text}</code>}
      <small>
        {column.type} {column.values && <code>{column.values}</code>}
      </small>
      {value !== undefined && (
        <code class="value">
          <span class="sr">{t('decision.value')} </span>
          {value}
        </code>
      )}
    </th>
  );
}

/** The first line of a table: the names of its groups of columns. */
function Groups({ table, notes }: { table: Table; notes: number }) {
  const [inputs, outputs] = [table.inputs.length, table.outputs.length];
  return (
    <tr>
      <th scope="col" title={t('decision.policy')}>
        {table.policy}
      </th>
      {inputs > 0 && (
        <th scope="colgroup" colSpan={inputs}>
          {t('decision.inputs')}
        </th>
      )}
      <th scope="colgroup" class="out" colSpan={outputs}>
        {t('decision.outputs')}
      </th>
      {notes > 0 && (
        <th scope="colgroup" class="out" colSpan={notes}>
          {t('decision.notes')}
        </th>
      )}
    </tr>
  );
}

const notesIn = (table: Table): number =>
  table.rules.reduce((most, { notes }) => Math.max(most, notes.length), table.notes.length);

function Row({ rule, n, table, notes, known }: { rule: Rule; n: number; table: Table; notes: number; known: Known }) {
  const outputs = known.outputs?.get(n);
  const count = known.counts ? (known.counts.get(n) ?? 0) : null;
  return (
    <tr class={outputs ? 'matched' : undefined}>
      <th scope="row" title={rule.id}>
        {outputs && (
          <>
            <i aria-hidden="true">✓</i>
            <span class="sr">{t('rule.matched')} </span>
          </>
        )}
        {n}
        {count !== null && (
          <small class={count ? undefined : 'wait'}>{count ? `×${number(count)}` : t('rule.neverMatched')}</small>
        )}
      </th>
      {table.inputs.map((_, i) => (
        <td key={i}>
          <code>{rule.inputs[i] || '-'}</code>
        </td>
      ))}
      {table.outputs.map((_, i) => (
        <td key={i} class={i ? undefined : 'out'}>
          <code>{rule.outputs[i] ?? ''}</code>
          {outputs && <code class="value">= {outputs[i] ?? ''}</code>}
        </td>
      ))}
      {Array.from({ length: notes }, (_, i) => (
        <td key={i} class={i ? 'note' : 'note out'}>
          {rule.notes[i] ?? ''}
        </td>
      ))}
    </tr>
  );
}

/** Numbers of rules to show: all, those that matched, or those that never did. */
function chosen(table: Table, { outputs, counts }: Known, only: boolean): number[] {
  const all = table.rules.map((_, i) => i + 1);
  if (!only) return all;
  return all.filter((n) => (outputs ? outputs.has(n) : counts ? !counts.get(n) : true));
}

export function Rules({ label, table, known = {} }: { label: string; table: Table; known?: Known }) {
  const { outputs, counts } = known;
  const only = useSignal(outputs !== undefined && outputs.size > 0 && table.rules.length > SIZE);
  const notes = notesIn(table);
  return (
    <>
      {(outputs || counts) && <Check value={only}>{outputs ? t('rule.onlyMatched') : t('rule.onlyNever')}</Check>}
      <Paged items={chosen(table, known, only.value)}>
        {(some) => (
          <div class="scroll" tabIndex={0} role="region" aria-label={label}>
            <table class="rules" aria-label={label}>
              <thead>
                <Groups table={table} notes={notes} />
                <tr>
                  <th scope="col">{t('rule')}</th>
                  {table.inputs.map((column, i) => (
                    <ColumnHead key={i} column={column} value={known.values?.[i]} />
                  ))}
                  {table.outputs.map((column, i) => (
                    <ColumnHead key={i} column={column} end={i === 0} />
                  ))}
                  {Array.from({ length: notes }, (_, i) => (
                    <th scope="col" key={i} class={i ? undefined : 'out'}>
                      {table.notes[i] || t('decision.note')}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {some.map((n) => (
                  <Row key={n} n={n} rule={table.rules[n - 1]!} table={table} notes={notes} known={known} />
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Paged>
      {table.rules.length === 0 && <p class="dim">{t('rule.none')}</p>}
    </>
  );
}
