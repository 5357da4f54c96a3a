// Folds the events of each line of stdin (JSON) and prints, for each line, where the fold differs from the engine's state.
//
// The console's code is TypeScript: its own bundler turns it into JavaScript. The first argument is the folder of the console.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const require = createRequire(`${process.argv[2]}/package.json`);
const { rolldown } = await import(pathToFileURL(require.resolve('rolldown')));
const bundle = await rolldown({ input: `${process.argv[2]}/src/history/fold.ts` });
const { output } = await bundle.generate({ format: 'esm' });
const { fold, stepsOf } = await import(`data:text/javascript,${encodeURIComponent(output[0].code)}`);

const sorted = (rows) => rows.map((row) => JSON.stringify(row)).sort();
const COUNTS = ['active', 'incidents', 'completed', 'canceled'];

/** The fold's account of an instance, in the form of the test. */
function told(view, instance) {
  const own = [...view.elements.values()].filter((element) => element.instance === instance && element.state === 'active');
  const live = new Set(own.map((element) => element.key));
  return {
    elements: sorted(own.map(({ key, id, kind, open }) => [key, id, kind, open])),
    variables: sorted([...view.variables.values()].filter(({ scope }) => live.has(scope)).map(({ scope, name, value }) => [scope, name, value])),
    incidents: sorted([...view.incidents.values()].map(({ key, element, type, message }) => [key, element, type, message])),
    marks: sorted([...view.marks.elements].map(([id, mark]) => [id, ...COUNTS.map((count) => mark[count])])),
    flows: sorted([...view.marks.flows]),
  };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { items, checks } = JSON.parse(line), differences = [];
  const steps = stepsOf({ items });
  for (const { items: count, instance, state } of checks) {
    const upto = stepsOf({ items: items.slice(0, count) }).length, found = told(fold(steps, instance, upto), instance);
    for (const [what, rows] of Object.entries(state)) {
      if (JSON.stringify(found[what]) !== JSON.stringify(sorted(rows))) differences.push({ instance, count, what, engine: sorted(rows), fold: found[what] });
    }
  }
  console.log(JSON.stringify({ checked: checks.length, differences }));
}
