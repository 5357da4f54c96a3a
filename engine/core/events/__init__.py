"""One file for each BPMN event definition, with its behaviour. `table` lists all of them."""
