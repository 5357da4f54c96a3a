// Models without a diagram: their elements are placed when they are shown. The deployed file stays as it is.
const HAS_DIAGRAM = /<(?:\w+:)?BPMNDiagram[\s>]/;

/** The model with a diagram. Raises an error if its elements cannot be placed. */
export async function withDiagram(xml: string): Promise<string> {
  if (HAS_DIAGRAM.test(xml)) return xml;
  const { layoutProcess } = await import('bpmn-auto-layout');
  return layoutProcess(xml);
}
