// The difference between two versions of a table: rules that came, went, changed, or stand at another place.
import type { Column, Rule, Table } from './model.ts';

/** The places of a column in both tables; null where it is missing. */
export type ColumnPair = { before: number | null; after: number | null };
export type Change = 'same' | 'added' | 'removed' | 'changed' | 'moved';
/** The places of a rule in both tables, from 0. */
export type RulePair = { change: Change; before: number | null; after: number | null };
export type Difference = { inputs: ColumnPair[]; outputs: ColumnPair[]; rules: RulePair[] };

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

/** The texts that something is paired by, the surest first. Nothing is paired by ''. */
type Keys = readonly string[];
/** `by`: the place of the key that both have. */
type Matched = { before: number | null; after: number; by: number };

/** For each of `after` its counterpart: all that share the first key are paired, then those that share the second one, and so on. */
function matched(before: readonly Keys[], after: readonly Keys[]): Matched[] {
  const pairs = after.map((_, i): Matched => ({ before: null, after: i, by: -1 }));
  const free = new Set(before.keys());
  for (const by of (after[0] ?? []).keys()) {
    const places = new Map<string, number[]>();
    for (const i of [...free].reverse()) {
      const known = places.get(before[i]![by]!);
      if (known) known.push(i);
      else places.set(before[i]![by]!, [i]);
    }
    for (const pair of pairs) {
      const key = after[pair.after]![by];
      const found = pair.before === null && key ? places.get(key)?.pop() : undefined;
      if (found === undefined) continue;
      free.delete(found);
      pair.before = found;
      pair.by = by;
    }
  }
  return pairs;
}

/** The columns of the new table, then those that went. They are the same by text and id, else by their text, else by their id: ids may be mere numbers of places. */
function columnPairs(before: readonly Column[], after: readonly Column[]): ColumnPair[] {
  const keysOf = ({ id, text, label }: Column): Keys => [
    JSON.stringify([id, text, label]),
    JSON.stringify([text, label]),
    text,
    id,
  ];
  const pairs = matched(before.map(keysOf), after.map(keysOf));
  const taken = new Set(pairs.map((pair) => pair.before));
  const gone = [...before.keys()].filter((i) => !taken.has(i));
  return [...pairs, ...gone.map((i) => ({ before: i, after: null }))];
}

/** The key of a rule that has all of its text. */
const BY_TEXT = 1;

export function differenceOf(before: Table, after: Table): Difference {
  const inputs = columnPairs(before.inputs, after.inputs);
  const outputs = columnPairs(before.outputs, after.outputs);
  const keysOf = (rules: readonly Rule[], side: 'before' | 'after') =>
    rules.map((rule): Keys => {
      const ofInputs = JSON.stringify(inputs.map((pair) => inputAt(rule, pair[side])));
      const ofOutputs = outputs.map((pair) => outputAt(rule, pair[side]));
      const text = JSON.stringify([ofInputs, ofOutputs, rule.notes.filter(Boolean)]);
      return [JSON.stringify([rule.id, text]), text, ofInputs, rule.id]; // ids may be mere numbers of places
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
    const change = pair.before === null ? 'added' : pair.by > BY_TEXT ? 'changed' : stays.has(pair) ? 'same' : 'moved';
    rules.push({ change, before: pair.before, after: pair.after });
  }
  addRemoved(Number.POSITIVE_INFINITY);
  return { inputs, outputs, rules };
}
