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
declare module 'dmn-js-properties-panel' {
  export const DmnPropertiesPanelModule: object;
  export const DmnPropertiesProviderModule: object;
  export const ZeebePropertiesProviderModule: object;
}
declare module 'dmn-js/lib/Modeler' {
  type View = { id: string; name?: string; type: string; element: object };
  export default class Modeler {
    constructor(options: object);
    importXML(xml: string): Promise<{ warnings: { message: string }[] }>;
    saveXML(options: { format: boolean }): Promise<{ xml: string }>;
    getDefinitions(): { id: string; name?: string; drgElement?: object[] };
    getViews(): View[];
    getActiveView(): View | undefined;
    getActiveViewer(): unknown;
    open(view: View): Promise<unknown>;
    on(name: string, call: (event: { viewer?: unknown }) => void): void;
    destroy(): void;
  }
}
declare module 'bpmn-js-element-templates' {
  type Template = import('./bpmn/templates/library.ts').Template;
  export const CloudElementTemplatesPropertiesProviderModule: object;
  export class CloudElementTemplatesValidator {
    constructor(moddle: object);
    add(template: Template): this;
    getErrors(): (Error & { template?: Template })[];
    getValidTemplates(): Template[];
  }
}
declare module '@bpmn-io/variable-resolver' {
  export const ZeebeVariableResolverModule: object;
}
declare module '*.css?url' {
  const address: string;
  export default address;
}
