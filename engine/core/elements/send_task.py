"""Send task. BPMN 2.0.2 §10.3.3: it sends a message, and completes when the message is sent: published by the engine
(`zeebe:publishMessage`), or by a worker with a job.
"""

from __future__ import annotations

from vivero.engine.core.elements import intermediate_throw_event

activate = intermediate_throw_event.activate
