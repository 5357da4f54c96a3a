// The build: hashed names below /console/, each text file also compressed, and the licences of what is in it.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

// The server sees the page's own origin, so its protection against foreign pages is as in production.
const server = { target: process.env.VIVERO_ADDRESS ?? 'http://127.0.0.1:8080', changeOrigin: false };
const TEXT = /\.(js|css|html|svg|txt|json)$/;

/** All files below a folder. */
const files = (folder) =>
  readdirSync(folder)
    .map((name) => join(folder, name))
    .flatMap((path) => (statSync(path).isDirectory() ? files(path) : [path]));

/** The packages of production in the lock file, with their licences. */
function licences(root) {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const sections = Object.entries(lock.packages)
    .filter(([path, entry]) => path && !entry.dev)
    .map(([path, entry]) => {
      const folder = join(root, path);
      const file = readdirSync(folder).find((name) => /^(licen[cs]e|copying)/i.test(name));
      const head = `${path.replace(/^.*node_modules\//, '')} ${entry.version} (${entry.license ?? 'see below'})`;
      return `${head}\n${'-'.repeat(head.length)}\n\n${file ? readFileSync(join(folder, file), 'utf8').trim() : 'The package has no file with its licence.'}\n`;
    });
  return `The console contains these packages.\n\n${sections.join('\n\n')}`;
}

// Chunks that a page needs beside the first: the server names it with the page (`vivero/web/preloads.py`), so the browser asks for everything
// at once, and not for one file after the other. By the first part of the address; `*`: below it. Each needs the texts of pages, too.
const TEXTS = 'locales/later/en';
const AHEAD = {
  access: ['pages/access/access'],
  'background-jobs': ['pages/background_jobs'],
  batches: ['pages/batches'],
  'cluster-variables': ['pages/cluster_variables'],
  decisions: ['pages/decisions'],
  'decision-instances': ['pages/decision_instances'],
  deploy: ['pages/deploy'],
  feel: ['pages/feel'],
  'inbound-connectors': ['pages/inbound_connectors'],
  incidents: ['pages/incidents'],
  instances: ['pages/instances'],
  jobs: ['pages/jobs'],
  log: ['pages/log'],
  migrate: ['pages/migration/page', 'diagram/diagram'],
  messages: ['pages/messages'],
  processes: ['pages/processes'],
  system: ['pages/system'],
  tasks: ['pages/tasks'],
  timers: ['pages/timers'],
  'access/*': ['pages/access/access'],
  'batches/*': ['pages/batches'],
  'decision-instances/*': ['pages/decision_instance'],
  'decisions/*': ['pages/decision'],
  'tasks/*': ['pages/tasks'],
  'instances/*': ['pages/instance', 'diagram/diagram'],
  'processes/*': ['pages/process', 'diagram/diagram'],
};

/** The files of a chunk, and of those that it imports, with their styles. */
function needed(bundle, name, found = new Set()) {
  const chunk = bundle[name];
  if (!chunk || found.has(name)) return found;
  found.add(name);
  for (const style of chunk.viteMetadata?.importedCss ?? []) found.add(style);
  for (const other of chunk.imports) needed(bundle, other, found);
  return found;
}

/** The list of `AHEAD` with the names of the build. */
function preloads() {
  return {
    name: 'preloads',
    // After Vite has given the styles of chunks without a script to those that import them.
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        const chunks = Object.values(bundle).filter((one) => one.type === 'chunk');
        const first = needed(bundle, chunks.find((one) => one.isEntry).fileName);
        const chunkOf = (source) =>
          chunks.find((one) => one.moduleIds.some((id) => new RegExp(`/src/${source}\\.tsx?$`).test(id))).fileName;
        const files = (sources) =>
          [...new Set([...sources, TEXTS].flatMap((source) => [...needed(bundle, chunkOf(source))]))].filter(
            (name) => !first.has(name),
          );
        const source = JSON.stringify(
          Object.fromEntries(Object.entries(AHEAD).map(([place, sources]) => [place, files(sources)])),
          null,
          1,
        );
        this.emitFile({ type: 'asset', fileName: 'preloads.json', source });
      },
    },
  };
}

const COPIED = /\/node_modules\/(?!preact\/|@preact\/|@bpmn-io\/form-js-viewer\/).*\.m?js$/;

/** The editor has copies of the packages that diagrams and forms use, too: pages with these would load what only the editor uses of them. */
function apart() {
  return {
    name: 'apart',
    apply: 'build',
    enforce: 'pre',
    async resolveId(source, importer) {
      if (!importer || !/\/src\/editor\/|\?editor$/.test(importer)) return null;
      const found = await this.resolve(source, importer.replace(/\?editor$/, ''), { skipSelf: true });
      return found && COPIED.test(found.id) ? { ...found, id: `${found.id}?editor` } : found;
    },
  };
}

function finish() {
  let config;
  return {
    name: 'finish',
    configResolved(resolved) {
      config = resolved;
    },
    closeBundle() {
      const out = join(config.root, config.build.outDir);
      writeFileSync(join(out, 'THIRD-PARTY.txt'), licences(config.root));
      for (const path of files(out).filter((path) => TEXT.test(path))) {
        const content = readFileSync(path);
        writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
        writeFileSync(
          `${path}.br`,
          brotliCompressSync(content, {
            params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length },
          }),
        );
      }
    },
  };
}

// The code that all pages share is one chunk, so the first page loads two scripts however the others are cut.
const BASE =
  /node_modules\/(preact|@preact)\/|\/src\/locales\/en\.|\/src\/lib\/(?!ad_hoc|agents|focus|matching|landscape|problems|compensation|cures|decisions|operations|documents)|\/src\/parts\/(act|banner|dialog|divider|head|lazy|notices|opening|place|places|problem|shell|state|table|time)\.|\/src\/parts\/(action|conflict|copy_commands|search|tenant)\.|\/src\/diagram\/(badges|canvas|layout|marks|geometry)\.|\/src\/pages\/message_actions\./;
const OF_FORMS = /node_modules\/(@bpmn-io\/(form-js-editor|draggle)|atoa|contra|ticky|array-move)\/.*\?editor$/;
// The code that only one of the editors needs is a chunk of its own; the rest of them is one that all share.
const OF_DECISIONS =
  /node_modules\/(dmn-|@bpmn-io\/dmn-|inferno|table-js|selection-|component-|dom-iterator|css\.escape|escape-html).*\?editor$/;
const OF_PROCESSES =
  /node_modules\/(bpmn-js|bpmn-moddle|camunda-bpmn|feelers|@bpmn-io\/(extract-process|variable-resolver|feel-analyzer)).*\?editor$/;
const OF_TEMPLATES =
  /node_modules\/(bpmn-js-element-templates|@bpmn-io\/(element-templates-|moddle-utils|semver-compat)|bpmnlint|dompurify|json-source-map|preact-markup|semver-compare|uuid).*\?editor$/;
const codeSplitting = {
  groups: [
    { name: 'base', test: BASE, priority: 3 },
    {
      name: 'editor',
      test: (id) =>
        id.endsWith('?editor') && ![OF_DECISIONS, OF_PROCESSES, OF_TEMPLATES, OF_FORMS].some((one) => one.test(id)),
      priority: 2,
    },
    { name: 'editor-dmn', test: OF_DECISIONS, priority: 1 },
    { name: 'editor-templates', test: OF_TEMPLATES, priority: 2 },
    { name: 'form', test: /node_modules\/@bpmn-io\/form-js-viewer\//, priority: 2 },
    { name: 'editor-form', test: OF_FORMS, priority: 1 },
    { name: 'editor-bpmn', test: OF_PROCESSES, priority: 1 },
    { name: 'moddle', test: /node_modules\/(bpmn-moddle|moddle|moddle-xml|min-dash|saxen)\// },
    { name: 'layout', test: /node_modules\/bpmn-auto-layout\// },
  ],
};

export default {
  base: '/console/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
    reportCompressedSize: false,
    rolldownOptions: { output: { codeSplitting } },
  },
  plugins: [apart(), preloads(), finish()],
  server: { proxy: { '/v2': server, '/cluster': server, '/console/live': server, '/console/session': server } },
};
