"""Send task. BPMN 2.0.2 §10.3.3: it sends a message and then completes. The engine publishes the message
(`zeebe:publishMessage`), or a worker sends it (job).
"""

from __future__ import annotations

from vivero.core.elements import intermediate_throw_event

activate = intermediate_throw_event.activate
