"""Element instances: read and search. The process itself is not among them."""

from __future__ import annotations

from vivero.api.search import getting, searching
from vivero.storage.search.resources import ELEMENT_INSTANCES

get = getting(ELEMENT_INSTANCES, "elementInstanceKey")
search = searching(ELEMENT_INSTANCES)
