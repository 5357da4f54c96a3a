"""One file per BPMN event definition: what it waits for, what it throws, what it starts. `table` lists all of them."""
