"""Start event. BPMN 2.0.2 §10.5.2: where a process, a sub-process or an event sub-process begins; that of an event
sub-process brings the variables of what happened.
"""

from __future__ import annotations

from engine.core.elements import boundary_event

activate = boundary_event.activate
