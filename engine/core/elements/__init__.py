"""One file for each BPMN element, with its behaviour in each stage. `defaults` has the behaviour that files omit."""
