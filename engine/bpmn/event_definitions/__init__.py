"""One file per event definition: where it may stand and how it is read. `engine.bpmn.events` lists them."""
