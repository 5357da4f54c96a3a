// A file of decisions as the browser shows it: the graph, and the logic of one element at a time. All versions of DMN are read by local names.
export type Column = { id: string; label: string; text: string; type: string; values: string };
export type Rule = { id: string; inputs: string[]; outputs: string[]; notes: string[] };
export type Table = {
  kind: 'table';
  policy: string;
  inputs: Column[];
  outputs: Column[];
  notes: string[];
  rules: Rule[];
};
/** A boxed expression. `parts`: of a context, an invocation, a list, a function, a conditional, a filter, or a loop, each with its name in FEEL. */
export type Logic =
  | { kind: 'text'; text: string }
  | Table
  | { kind: 'parts'; parts: { name: string; type: string; logic: Logic | null }[] }
  | { kind: 'relation'; columns: string[]; rows: (Logic | null)[][] };

const KINDS = ['decision', 'inputData', 'businessKnowledgeModel', 'decisionService', 'knowledgeSource'] as const;
export type Kind = (typeof KINDS)[number] | 'imported';
export type Point = { x: number; y: number };
export type Bounds = Point & { width: number; height: number };
/** `id`: of the requirement, which the diagram may draw. `from`: the id of what is required. */
export type Requirement = { id: string; kind: 'information' | 'knowledge' | 'authority'; from: string };
export type Node = {
  id: string;
  kind: Kind;
  name: string;
  /** The name and the type of its value. */
  variable: string;
  type: string;
  requires: Requirement[];
  element: Element | null;
};
/** `bounds` and `ways`: what the file says of its diagram, by the ids of nodes and of requirements. */
export type Graph = { nodes: Map<string, Node>; bounds: Map<string, Bounds>; ways: Map<string, Point[]> };

const childrenOf = (of: Element | null | undefined, ...names: string[]): Element[] =>
  of ? [...of.children].filter((each) => names.includes(each.localName)) : [];
const childOf = (of: Element | null | undefined, name: string): Element | null => childrenOf(of, name)[0] ?? null;
const attribute = (of: Element | null | undefined, name: string): string => of?.getAttribute(name) ?? '';
const textIn = (of: Element | null, name: string): string => (childOf(of, name)?.textContent ?? '').trim();
/** The text of an element, which has it in a child. */
const textOf = (of: Element | null): string => textIn(of, 'text');
/** Types are attributes, or children in DMN 1.1. A prefix names a file. */
const typeOf = (of: Element | null): string => attribute(of, 'typeRef') || textIn(of, 'typeRef');
const local = (href: string): string => href.slice(href.lastIndexOf('#') + 1);

type Reader = (element: Element) => Logic;
/** All boxed expressions directly in an element. */
const logicsIn = (of: Element): Logic[] =>
  [...of.children].filter(isLogic).map((each) => READERS[each.localName]!(each));
const logicIn = (of: Element | null): Logic | null => {
  const found = of ? [...of.children].find(isLogic) : undefined;
  return found ? READERS[found.localName]!(found) : null;
};
const part = (name: string, logic: Logic | null, type = '') => ({ name, type, logic });
const parts = (...of: ReturnType<typeof part>[]): Logic => ({ kind: 'parts', parts: of });
const partIn = (of: Element, tag: string, name: string) => part(name, logicIn(childOf(of, tag)));

function policyOf(table: Element): string {
  const policy = (attribute(table, 'hitPolicy') || 'UNIQUE').replaceAll('_', ' ').toUpperCase();
  return `${policy} ${attribute(table, 'aggregation').toUpperCase()}`.trim();
}

function tableOf(table: Element): Table {
  const texts = (rule: Element, name: string): string[] => childrenOf(rule, name).map(textOf);
  return {
    kind: 'table',
    policy: policyOf(table),
    inputs: childrenOf(table, 'input').map((each) => {
      const expression = childOf(each, 'inputExpression');
      return {
        id: attribute(each, 'id'),
        label: attribute(each, 'label'),
        text: textOf(expression),
        type: typeOf(expression),
        values: textOf(childOf(each, 'inputValues')),
      };
    }),
    outputs: childrenOf(table, 'output').map((each) => ({
      id: attribute(each, 'id'),
      label: attribute(each, 'label'),
      text: attribute(each, 'name'),
      type: typeOf(each),
      values: textOf(childOf(each, 'outputValues')),
    })),
    notes: childrenOf(table, 'annotation').map((each) => attribute(each, 'name')),
    rules: childrenOf(table, 'rule').map((rule, i) => ({
      id: attribute(rule, 'id') || `rule_${i + 1}`,
      inputs: texts(rule, 'inputEntry'),
      outputs: texts(rule, 'outputEntry'),
      notes: notesOf(rule),
    })),
  };
}

/** The annotations of a rule; before DMN 1.2 it has a description only. */
function notesOf(rule: Element): string[] {
  const notes = childrenOf(rule, 'annotationEntry').map(textOf);
  const description = textIn(rule, 'description');
  return notes.length || !description ? notes : [description];
}

const iteration =
  (result: string, tag: string): Reader =>
  (each) =>
    parts(partIn(each, 'in', `${each.localName} ${attribute(each, 'iteratorVariable')} in`), partIn(each, tag, result));

const READERS: Record<string, Reader> = {
  literalExpression: (each) => ({ kind: 'text', text: textOf(each) }),
  decisionTable: tableOf,
  context: (each) =>
    parts(
      ...childrenOf(each, 'contextEntry').map((entry) => {
        const variable = childOf(entry, 'variable');
        return part(attribute(variable, 'name'), logicIn(entry), typeOf(variable));
      }),
    ),
  invocation: (each) =>
    parts(
      part('', logicIn(each)),
      ...childrenOf(each, 'binding').map((binding) =>
        part(attribute(childOf(binding, 'parameter'), 'name'), logicIn(binding)),
      ),
    ),
  relation: (each) => ({
    kind: 'relation',
    columns: childrenOf(each, 'column').map((column) => attribute(column, 'name')),
    rows: childrenOf(each, 'row').map(logicsIn),
  }),
  list: (each) => parts(...logicsIn(each).map((item, i) => part(String(i + 1), item))),
  functionDefinition: (each) =>
    parts(
      part(
        `function(${childrenOf(each, 'formalParameter')
          .map((parameter) => attribute(parameter, 'name'))
          .join(', ')})`,
        logicIn(each),
      ),
    ),
  conditional: (each) => parts(partIn(each, 'if', 'if'), partIn(each, 'then', 'then'), partIn(each, 'else', 'else')),
  filter: (each) => parts(partIn(each, 'in', 'in'), partIn(each, 'match', 'match')),
  for: iteration('return', 'return'),
  some: iteration('satisfies', 'satisfies'),
  every: iteration('satisfies', 'satisfies'),
};
const isLogic = ({ localName }: Element): boolean => Object.hasOwn(READERS, localName);

/** The logic of a decision or of a business knowledge model; null without any. */
export function logicOf({ element, kind }: Node): Logic | null {
  if (kind !== 'businessKnowledgeModel') return logicIn(element);
  const encapsulated = childOf(element, 'encapsulatedLogic');
  return encapsulated ? READERS.functionDefinition!(encapsulated) : null;
}

const REQUIREMENTS = ['information', 'knowledge', 'authority'] as const;

const requirementsOf = (element: Element): Requirement[] =>
  REQUIREMENTS.flatMap((kind) =>
    childrenOf(element, `${kind}Requirement`).flatMap((requirement) =>
      [...requirement.children]
        .filter((each) => each.localName.startsWith('required'))
        .map((each) => ({ id: attribute(requirement, 'id'), kind, from: local(attribute(each, 'href')) })),
    ),
  );

function nodeOf(element: Element): Node {
  const variable = childOf(element, 'variable');
  const id = attribute(element, 'id');
  const name = attribute(element, 'name') || id;
  return {
    id,
    kind: element.localName as Kind,
    name,
    variable: attribute(variable, 'name') || name,
    type: typeOf(variable),
    requires: requirementsOf(element),
    element,
  };
}

const numberOf = (of: Element, name: string): number => Number(attribute(of, name) || Number.NaN);
const FARTHEST = 100_000;
const isPlace = (...values: number[]): boolean => values.every((value) => Math.abs(value) <= FARTHEST);

function drawnIn(root: Element): Pick<Graph, 'bounds' | 'ways'> {
  const bounds = new Map<string, Bounds>();
  const ways = new Map<string, Point[]>();
  const diagram = childOf(childOf(root, 'DMNDI'), 'DMNDiagram');
  for (const shape of childrenOf(diagram, 'DMNShape')) {
    const found = childOf(shape, 'Bounds');
    if (!found) continue;
    const [x, y, width, height] = ['x', 'y', 'width', 'height'].map((name) => numberOf(found, name)) as [
      number,
      number,
      number,
      number,
    ];
    if (isPlace(x, y, width, height) && width > 0 && height > 0)
      bounds.set(attribute(shape, 'dmnElementRef'), { x, y, width, height });
  }
  for (const edge of childrenOf(diagram, 'DMNEdge')) {
    const points = childrenOf(edge, 'waypoint').map((each) => ({ x: numberOf(each, 'x'), y: numberOf(each, 'y') }));
    if (points.length > 1 && points.every(({ x, y }) => isPlace(x, y)))
      ways.set(attribute(edge, 'dmnElementRef'), points);
  }
  return { bounds, ways };
}

/** The graph of a file. Raises an error if it is not XML. An element that another file defines is a node, too, but only with its id. */
export function graphOf(xml: string): Graph {
  const root = new DOMParser().parseFromString(xml.replace(/^\uFEFF/, ''), 'text/xml').documentElement;
  if (root.localName !== 'definitions') throw new Error(root.textContent?.slice(0, 300) ?? '');
  const nodes = new Map(childrenOf(root, ...KINDS).map((element) => [attribute(element, 'id'), nodeOf(element)]));
  for (const node of [...nodes.values()])
    for (const { from: id } of node.requires)
      if (!nodes.has(id))
        nodes.set(id, { id, kind: 'imported', name: id, variable: id, type: '', requires: [], element: null });
  return { nodes, ...drawnIn(root) };
}

/** The values that an evaluation of a decision asks for: input data that it needs, and names in inputs of tables that nothing defines. */
export function asked(graph: Graph, id: string): Pick<Node, 'variable' | 'type'>[] {
  const found = new Map<string, Pick<Node, 'variable' | 'type'>>();
  const names = new Map<string, string>();
  const seen = new Set([id]);
  for (const each of seen) {
    const node = graph.nodes.get(each);
    if (!node) continue;
    if (node.kind === 'inputData') found.set(node.variable, node);
    const logic = node.kind === 'decision' ? logicOf(node) : null;
    if (logic?.kind === 'table') for (const { text, type } of logic.inputs) names.set(text, type);
    for (const { from, kind } of node.requires) if (kind === 'information') seen.add(from);
  }
  const defined = new Set([...seen].map((each) => graph.nodes.get(each)?.variable));
  for (const [variable, type] of names)
    if (/^[\p{L}_][\p{L}\p{N}_]*$/u.test(variable) && !defined.has(variable)) found.set(variable, { variable, type });
  return [...found.values()];
}
