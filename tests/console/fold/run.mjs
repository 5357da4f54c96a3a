// Reads cases (JSON) from standard input, folds the events of each with the console's own code, and writes the states.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const console_ = process.argv[2];
const require = createRequire(`${console_}/package.json`);
const { rolldown } = await import(pathToFileURL(require.resolve('rolldown')).href);
const bundle = await rolldown({ input: `${console_}/src/history/fold.ts` });
const { output } = await bundle.generate({ format: 'esm' });
const { fold, stepsOf } = await import(`data:text/javascript;base64,${Buffer.from(output[0].code).toString('base64')}`);

const marks = (view) => Object.fromEntries([...view.marks.elements].map(([id, { active, incidents }]) => [id, [active, incidents]]).filter(([, [active, incidents]]) => active + incidents));
const isLive = (view, scope) => view.elements.get(scope)?.state === 'active';

/** The steps of the first `length` commands are folded. */
function stateOf(items, { length, instance }) {
  const view = fold(stepsOf({ items: items.slice(0, length), next: null }), instance);
  const live = [...view.variables.values()].filter(({ scope }) => isLive(view, scope));
  return { marks: marks(view), variables: Object.fromEntries(live.map(({ scope, name, value }) => [`${scope}/${name}`, value])), incidents: [...view.incidents.keys()].sort() };
}

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, 'utf8')).map(({ items, moments }) => moments.map((moment) => stateOf(items, moment)))));
