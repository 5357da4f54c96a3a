// New models: a process with a start event, a decision with a table of one rule, and an empty form.

/** The version of the platform whose rules the editor, the checks and the templates go by. */
export const PLATFORM = '8.8.0';
const ATTRIBUTES = `xmlns:modeler="http://camunda.org/schema/modeler/1.0" modeler:executionPlatform="Camunda Cloud" modeler:executionPlatformVersion="${PLATFORM}"`;

/** The model of a new process. `id`: of the process. */
export const blankProcess = (id: string): string => `<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:bpmndi="http://www.omg.org/spec/BPMN/20100524/DI" xmlns:dc="http://www.omg.org/spec/DD/20100524/DC" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" ${ATTRIBUTES} id="definitions" targetNamespace="http://bpmn.io/schema/bpmn">
  <bpmn:process id="${id}" isExecutable="true">
    <bpmn:startEvent id="start" />
  </bpmn:process>
  <bpmndi:BPMNDiagram id="diagram">
    <bpmndi:BPMNPlane id="plane" bpmnElement="${id}">
      <bpmndi:BPMNShape id="start_shape" bpmnElement="start"><dc:Bounds x="180" y="160" width="36" height="36" /></bpmndi:BPMNShape>
    </bpmndi:BPMNPlane>
  </bpmndi:BPMNDiagram>
</bpmn:definitions>`;

/** The model of a new decision. `id`: of the decision. */
export const blankDecision = (id: string): string => `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" xmlns:dmndi="https://www.omg.org/spec/DMN/20191111/DMNDI/" xmlns:dc="http://www.omg.org/spec/DMN/20180521/DC/" ${ATTRIBUTES} id="definitions_${id}" name="${id}" namespace="http://camunda.org/schema/1.0/dmn">
  <decision id="${id}" name="${id}">
    <decisionTable id="table">
      <input id="input">
        <inputExpression id="inputExpression" typeRef="string"><text></text></inputExpression>
      </input>
      <output id="output" name="output" typeRef="string" />
    </decisionTable>
  </decision>
  <dmndi:DMNDI>
    <dmndi:DMNDiagram id="diagram">
      <dmndi:DMNShape id="shape" dmnElementRef="${id}"><dc:Bounds height="80" width="180" x="160" y="100" /></dmndi:DMNShape>
    </dmndi:DMNDiagram>
  </dmndi:DMNDI>
</definitions>`;

/** A new form without fields. `id`: of the form. */
export const blankForm = (id: string): string =>
  JSON.stringify({
    type: 'default',
    id,
    components: [],
    executionPlatform: 'Camunda Cloud',
    executionPlatformVersion: PLATFORM,
  });
