"""Element instances: read and search. The process itself is not among them."""

from __future__ import annotations

from api.search import getting, searching
from storage.searchable import ELEMENT_INSTANCES

get = getting(ELEMENT_INSTANCES, "elementInstanceKey")
search = searching(ELEMENT_INSTANCES)
