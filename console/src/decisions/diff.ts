// The difference between two versions of a table: rules that came, went, changed, or stand at another place.
import type { Column, Rule, Table } from './model.ts';

/** The places of a column in both tables; null where it is missing. */
export type ColumnPair = { column: Column; before: number | null; after: number | null };
export type Change = 'same' | 'added' | 'removed' | 'changed' | 'moved';
/** The places of a rule in both tables, from 0. */
export type RulePair = { change: Change; before: number | null; after: number | null };
export type Difference = { inputs: ColumnPair[]; outputs: ColumnPair[]; rules: RulePair[] };

/** The columns of the new table, then those that went. They are the same by id, else by their text. */
function columnPairs(before: readonly Column[], after: readonly Column[]): ColumnPair[] {
  const left = new Set(before.keys());
  const find = (test: (column: Column) => boolean): number | null => {
    const found = [...left].find((i) => test(before[i]!));
    if (found === undefined) return null;
    left.delete(found);
    return found;
  };
  const byId = after.map(({ id }) => find((column) => column.id === id));
  const pairs = after.map((column, i) => ({
    column,
    before: byId[i] ?? find(({ text, label }) => text === column.text && label === column.label),
    after: i,
  }));
  return [...pairs, ...[...left].map((i) => ({ column: before[i]!, before: i, after: null }))];
}

/** An entry as it is compared: a missing column of inputs is one that everything passes. */
export const inputAt = (rule: Rule, at: number | null): string => (at === null ? '' : (rule.inputs[at] ?? '')) || '-';
export const outputAt = (rule: Rule, at: number | null): string => (at === null ? '' : (rule.outputs[at] ?? ''));

/** The places, in a list of numbers, of a longest ascending part of it. */
function ascending(numbers: readonly number[]): Set<number> {
  const ends: number[] = [];
  const previous: number[] = [];
  for (const [i, n] of numbers.entries()) {
    let low = 0;
    for (let high = ends.length; low < high; ) {
      const middle = (low + high) >> 1;
      if (numbers[ends[middle]!]! < n) low = middle + 1;
      else high = middle;
    }
    previous[i] = low ? ends[low - 1]! : -1;
    ends[low] = i;
  }
  const found = new Set<number>();
  for (let i = ends.at(-1) ?? -1; i >= 0; i = previous[i]!) found.add(i);
  return found;
}

/** The keys that rules are paired by: `rule` of id and text, `text` of inputs, outputs and annotations. */
type Keys = Record<'rule' | 'text' | 'inputs' | 'id', string>;
type Matched = { before: number | null; after: number; isSame: boolean };

/** Pairs of equal rules, first those with the same id; then of rules with the same inputs, and last with the same id: ids may be mere numbers of places. */
function matched(before: readonly Keys[], after: readonly Keys[]): Matched[] {
  const pairs = after.map((_, i): Matched => ({ before: null, after: i, isSame: false }));
  const free = new Set(before.keys());
  const take = (key: keyof Keys, isSame: boolean) => {
    const places = new Map<string, number[]>();
    for (const i of [...free].reverse()) {
      const known = places.get(before[i]![key]);
      if (known) known.push(i);
      else places.set(before[i]![key], [i]);
    }
    for (const pair of pairs) {
      const found = pair.before === null ? places.get(after[pair.after]![key])?.pop() : undefined;
      if (found === undefined) continue;
      free.delete(found);
      pair.before = found;
      pair.isSame = isSame;
    }
  };
  take('rule', true);
  take('text', true);
  take('inputs', false);
  take('id', false);
  return pairs;
}

export function differenceOf(before: Table, after: Table): Difference {
  const inputs = columnPairs(before.inputs, after.inputs);
  const outputs = columnPairs(before.outputs, after.outputs);
  const keysOf = (rules: readonly Rule[], side: 'before' | 'after') =>
    rules.map((rule): Keys => {
      const ofInputs = JSON.stringify(inputs.map((pair) => inputAt(rule, pair[side])));
      const ofOutputs = outputs.map((pair) => outputAt(rule, pair[side]));
      const text = JSON.stringify([ofInputs, ofOutputs, rule.notes.filter(Boolean)]);
      return { id: rule.id, inputs: ofInputs, text, rule: JSON.stringify([rule.id, text]) };
    });
  const pairs = matched(keysOf(before.rules, 'before'), keysOf(after.rules, 'after'));
  const kept = pairs.filter((pair) => pair.before !== null);
  const inPlace = ascending(kept.map((pair) => pair.before!));
  const stays = new Set(kept.filter((_, i) => inPlace.has(i)));
  const taken = new Set(kept.map((pair) => pair.before));
  const removed = before.rules.map((_, i) => i).filter((i) => !taken.has(i));
  const rules: RulePair[] = [];
  let next = 0;
  const addRemoved = (upTo: number) => {
    for (; next < removed.length && removed[next]! < upTo; next++)
      rules.push({ change: 'removed', before: removed[next]!, after: null });
  };
  for (const pair of pairs) {
    if (stays.has(pair)) addRemoved(pair.before!);
    const change = pair.before === null ? 'added' : !pair.isSame ? 'changed' : stays.has(pair) ? 'same' : 'moved';
    rules.push({ change, before: pair.before, after: pair.after });
  }
  addRemoved(Number.POSITIVE_INFINITY);
  return { inputs, outputs, rules };
}
