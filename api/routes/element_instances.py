"""Element instances: read and search. They do not include the process itself."""

from __future__ import annotations

from vivero.api.search.search_requests import getting, searching
from vivero.storage.search.element_instances import ELEMENT_INSTANCES

get = getting(ELEMENT_INSTANCES, "elementInstanceKey")
search = searching(ELEMENT_INSTANCES)
