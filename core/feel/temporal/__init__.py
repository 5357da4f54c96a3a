"""FEEL's temporal values: types, parsing, arithmetic, properties, timers. Standard library only.

parse_temporal("2026-11-21T10:30@Europe/Berlin")    any form of `@"…"`; None for other texts
add, subtract, multiply, divide, negate             None if FEEL has no rule, OverflowError out of range
same_kind(a, b), then a < b                         local and zoned times are different kinds; a == b always works
str(value), iso_format(value)                       the text of `string()`; the text in variables and JSON
parse_interval("P1M").added_to(epoch_ms), parse_cycle("R3/PT1H"), parse_date_ms(text)

Entry: `types`, `parsing`.
Imports: nothing of ours.
"""

from vivero.core.feel.temporal.arithmetic import (
    absolute,
    add,
    add_months,
    difference,
    divide,
    months_between,
    multiply,
    negate,
    subtract,
)
from vivero.core.feel.temporal.calendar import TemporalError
from vivero.core.feel.temporal.durations import DayTimeDuration, YearMonthDuration, same_kind
from vivero.core.feel.temporal.parsing import (
    parse_date,
    parse_date_time,
    parse_day_time_duration,
    parse_duration,
    parse_temporal,
    parse_time,
    parse_year_month_duration,
    with_zone_same_instant,
)
from vivero.core.feel.temporal.timers import Cycle, Interval, interval_of, parse_cycle, parse_date_ms, parse_interval
from vivero.core.feel.temporal.types import TEMPORAL_TYPES, Date, DateTime, Temporal, Time, identical, iso_format
from vivero.core.feel.temporal.zones import UnknownZone

__all__ = [
    "TEMPORAL_TYPES",
    "Cycle",
    "Date",
    "DateTime",
    "DayTimeDuration",
    "Interval",
    "Temporal",
    "TemporalError",
    "Time",
    "UnknownZone",
    "YearMonthDuration",
    "absolute",
    "add",
    "add_months",
    "difference",
    "divide",
    "identical",
    "interval_of",
    "iso_format",
    "months_between",
    "multiply",
    "negate",
    "parse_cycle",
    "parse_date",
    "parse_date_ms",
    "parse_date_time",
    "parse_day_time_duration",
    "parse_duration",
    "parse_interval",
    "parse_temporal",
    "parse_time",
    "parse_year_month_duration",
    "same_kind",
    "subtract",
    "with_zone_same_instant",
]
