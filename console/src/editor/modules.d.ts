// Packages without types of their own.
declare module 'bpmn-js-properties-panel' {
  export const BpmnPropertiesPanelModule: object;
  export const BpmnPropertiesProviderModule: object;
  export const ZeebePropertiesProviderModule: object;
}
declare module 'camunda-bpmn-js-behaviors/lib/camunda-cloud' {
  const module: object;
  export default module;
}
