"""One file per BPMN element: what it does when it is entered, active, quiet, and left. `defaults` says the rest."""
