// Places for the elements of a file that has no diagram: those that the page of a decision shows.
import { drawn } from '../../decisions/layout.ts';
import type { Kind, Node } from '../../decisions/model.ts';
import type { Moddle } from './model.ts';

type Reference = { href: string };
type Requirement = Moddle & Record<string, Reference | undefined>;
type Kept = [(typeof REQUIREMENTS)[number], Requirement & { id: string }];
type Diagram = Moddle & { diagramElements: Moddle[] };
export type Definitions = Moddle & {
  dmnDI?: Moddle & { diagrams?: Diagram[] };
  drgElement?: (Moddle & { id: string })[];
  get(name: string): unknown;
  set(name: string, value: unknown): void;
};
type Factory = {
  create(type: string, values?: object): Moddle;
  createDiShape(of: Moddle, bounds: object): Moddle;
  createDiEdge(of: Moddle, points: object[]): Moddle;
};
type Bus = { on(name: string, call: (event: { definitions: Definitions }) => void): void };

/** The kinds that the editor draws, by their types. */
const KINDS: Record<string, Kind> = {
  'dmn:Decision': 'decision',
  'dmn:InputData': 'inputData',
  'dmn:BusinessKnowledgeModel': 'businessKnowledgeModel',
  'dmn:KnowledgeSource': 'knowledgeSource',
};
const REQUIREMENTS = ['information', 'knowledge', 'authority'] as const;

/** The requirements of an element. One without an id gets one, by which its edge names it. */
const requirementsIn = (element: Moddle): Kept[] =>
  REQUIREMENTS.flatMap((kind) =>
    ((element[`${kind}Requirement`] ?? []) as Requirement[]).map((one): Kept => {
      one.id ??= `Requirement_${crypto.randomUUID().slice(0, 8)}`;
      return [kind, one as Kept[1]];
    }),
  );

/** The id of what a requirement names; null for one of another file. */
function idIn(requirement: Requirement): string | null {
  const names = ['requiredDecision', 'requiredInput', 'requiredKnowledge', 'requiredAuthority'];
  const href = names.map((name) => requirement[name]?.href).find((each) => each);
  return href?.startsWith('#') ? href.slice(1) : null;
}

function nodeOf(element: Moddle & { id: string }): Node {
  const requires = requirementsIn(element).flatMap(([kind, one]) => {
    const from = idIn(one);
    return from ? [{ id: one.id, kind, from }] : [];
  });
  return { id: element.id, kind: KINDS[element.$type!]!, name: '', variable: '', type: '', requires, element: null };
}

/** The corner of the diagram, beside the tools and below the name of the file. */
const [LEFT, TOP] = [120, 130];

function diagramOf(definitions: Definitions, factory: Factory): Diagram {
  const elements = (definitions.drgElement ?? []).filter(({ $type }) => $type && $type in KINDS);
  const { bounds, edges } = drawn({
    nodes: new Map(elements.map((one) => [one.id, nodeOf(one)])),
    bounds: new Map(),
    ways: new Map(),
  });
  const moved = <P extends { x: number; y: number }>(place: P): P => ({
    ...place,
    x: place.x + LEFT,
    y: place.y + TOP,
  });
  const requirements = new Map(elements.flatMap(requirementsIn).map(([, one]) => [one.id, one]));
  const diagram = factory.create('dmndi:DMNDiagram') as Diagram;
  const parts = [
    ...elements.map((one) => factory.createDiShape(one, moved(bounds.get(one.id)!))),
    ...edges.map(({ id, points }) => factory.createDiEdge(requirements.get(id)!, points.map(moved))),
  ];
  for (const part of parts) part.$parent = diagram;
  diagram.diagramElements = parts;
  return diagram;
}

/** A module of the editor: it takes the place of the one that puts all decisions over each other. */
export const PlacesModule = {
  diGenerator: [
    'type',
    Object.assign(
      class {
        constructor(factory: Factory, bus: Bus) {
          bus.on('import.start', ({ definitions }) => {
            if (definitions.dmnDI?.diagrams?.[0]) return;
            const places = definitions.dmnDI ?? factory.create('dmndi:DMNDI');
            definitions.set('dmnDI', places);
            places.diagrams = [diagramOf(definitions, factory)];
          });
        }
      },
      { $inject: ['drdFactory', 'eventBus'] },
    ),
  ],
};
