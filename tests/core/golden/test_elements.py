"""Golden traces of elements in their variants: alone, in scopes of each kind, with an incident, cancelled.

`pytest --rewrite-golden` writes tests/core/golden/element_*.txt anew; a change of behaviour is a readable diff.
"""

import pytest

from tests.core.golden.recording import text_of
from tests.core.golden.variants import VARIANTS


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_trace_is_the_golden_one(variant, golden):
    golden(f"element_{variant}", text_of(VARIANTS[variant]))
