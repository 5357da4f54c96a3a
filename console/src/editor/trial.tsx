// The trial of what is edited, by its kind.
import type { Signal } from '@preact/signals';
import { Simulation } from './bpmn/simulation.tsx';
import { DecisionTrial } from './dmn/trial.tsx';
import { FormPreview } from './form/preview.tsx';
import type { Modeler } from './kinds.ts';
import type { Source } from './validation.ts';

type TrialProps = {
  source: () => Promise<Source>;
  modeler: Modeler;
  /** The test data, which stay when this is closed. */
  data: { variables: Signal<string>; answers: Signal<string> };
};

export function Trial({ source, modeler, data }: TrialProps) {
  if (modeler.kind === 'bpmn') return <Simulation source={source} modeler={modeler} data={data} />;
  if (modeler.kind === 'dmn') return <DecisionTrial source={source} modeler={modeler} variables={data.variables} />;
  return <FormPreview schema={modeler.schema.value} variables={data.variables} />;
}
