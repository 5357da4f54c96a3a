"""Due dates: dates, durations, cycles and cron, against rules written down another way."""

import re
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim
from hypothesis import strategies as st

from tests.properties import given, settings
from vivero.core.events.schedules import LATEST_MS, Due, InvalidSchedule, due_date_of, next_due
from vivero.core.feel.temporal.calendar import TemporalError
from vivero.core.feel.temporal.cron import parse_cron
from vivero.core.rules import TimerRules

RULES = TimerRules()
SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000


def ms(text):
    return int(datetime.fromisoformat(text).timestamp() * 1000)


NOW = ms("2026-11-21T10:00:00Z")


def first(kind, value, now=NOW, rules=RULES):
    return due_date_of(kind, value, now, rules)


def firings(text, now=NOW, rules=RULES, at=lambda due: due.at):
    """All due dates of a cycle, each fired when `at` says (at its due date)."""
    due = first("cycle", text, now, rules)
    while due is not None:
        yield due.at
        due = next_due(due, at(due), rules)


def texts(dates, zone="UTC"):
    return [datetime.fromtimestamp(date / 1000, ZoneInfo(zone)).strftime("%Y-%m-%dT%H:%M:%S") for date in dates]


# ---- dates and durations


@pytest.mark.parametrize(
    ("kind", "value", "due"),
    [
        ("date", "2027-01-01T00:00:00Z", "2027-01-01T00:00:00Z"),
        ("date", "2027-01-01T00:00:00+01:00", "2026-12-31T23:00:00Z"),
        ("date", "2027-07-01T12:00:00[Europe/Berlin]", "2027-07-01T10:00:00Z"),
        ("date", "2027-01-01", "2027-01-01T00:00:00Z"),
        ("date", "1999-01-01T00:00:00Z", "1999-01-01T00:00:00Z"),
        ("date", "1066-10-14T00:00:00Z", "1970-01-01T00:00:00Z"),
        ("duration", "PT15M", "2026-11-21T10:15:00Z"),
        ("duration", "P1M2DT3H", "2026-12-23T13:00:00Z"),
        ("duration", "P2W", "2026-12-05T10:00:00Z"),
        ("duration", "PT0S", "2026-11-21T10:00:00Z"),
        ("duration", "-PT1H", "2026-11-21T10:00:00Z"),
        ("duration", " PT1M ", "2026-11-21T10:01:00Z"),
    ],
)
def test_dates_and_durations(kind, value, due):
    assert first(kind, value) == Due(ms(due))


@pytest.mark.parametrize(
    ("now", "duration", "due"),
    [
        ("2027-01-31T10:00:00Z", "P1M", "2027-02-28T10:00:00Z"),
        ("2028-01-31T10:00:00Z", "P1M", "2028-02-29T10:00:00Z"),
        ("2028-02-29T10:00:00Z", "P1Y", "2029-02-28T10:00:00Z"),
        ("2028-02-29T10:00:00Z", "P4Y", "2032-02-29T10:00:00Z"),
    ],
)
def test_months_end_where_they_end(now, duration, due):
    assert first("duration", duration, ms(now)).at == ms(due)


@pytest.mark.parametrize(
    ("kind", "value", "says"),
    [
        ("date", "tomorrow", "tomorrow"),
        ("date", None, "its value is null, which is no date"),
        ("date", 5, "its value is 5, which is no date"),
        ("date", "+99999-01-01T00:00:00Z", "+99999-01-01T00:00:00Z"),
        ("date", "9" * 2_000, "its value has 2000 characters, more than 1000"),
        ("duration", "P9000Y", "gives a date outside the years 1970 to 9999"),
        ("duration", "P999999999Y", ""),
        ("duration", "15 minutes", "Invalid duration '15 minutes'"),
        ("duration", True, "its value is true, which is no duration"),
        ("duration", ["PT1H"], 'its value is ["PT1H"], which is no duration'),
        ("cycle", "R0/PT1H", "'R0/PT1H' never fires"),
        ("cycle", "R/PT0.5S", "repeats without end at an interval shorter than a second"),
        ("cycle", "R/PT0S", "repeats without any time in between"),
        ("cycle", "R3/-PT1H", "repeats without any time in between"),
        ("cycle", "R3/P1M-31D", "repeats without any time in between"),
        ("cycle", "R30000000000/PT1H", "R30000000000/PT1H"),
        ("cycle", "R2147483648/PT1H", "repeats more often than 2147483647 times"),
        ("cycle", "R/9999-12-31T23:59:59Z/P1Y", None),
        ("cycle", "R/2027-01-01T00:00:00[Europe/Atlantis]/P1D", "Atlantis"),
        ("cycle", "PT1H", "has 1 fields"),
        ("cycle", "0 0 0 30 2 *", "never happens"),
        ("cycle", "0 0 25 * * *", "'25' is not a valid hour of a cron expression (0-23)"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_a_reason(kind, value, says):
    if says is None:
        assert first(kind, value).at <= LATEST_MS
        return
    with pytest.raises(InvalidSchedule) as caught:
        first(kind, value)
    assert says in str(caught.value)


@given(
    st.sampled_from(["date", "duration", "cycle"]), st.text(alphabet="RPTZ0123456789/-:+.YMWDHS[]*?LW#, ", max_size=40)
)
@settings(max_examples=150)
def test_any_text_is_a_due_date_in_range_or_refused(kind, text):
    try:
        due = first(kind, text)
    except InvalidSchedule:
        return
    for _ in range(100):
        assert 0 <= due.at <= LATEST_MS
        assert -(2**31) <= due.repetitions < 2**31
        due = next_due(due, due.at, RULES)
        if due is None:
            return


# ---- repeating intervals


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("R3/PT10S", ["2026-11-21T10:00:10", "2026-11-21T10:00:20", "2026-11-21T10:00:30"]),
        ("R1/PT1H", ["2026-11-21T11:00:00"]),
        ("R2/2027-01-01T00:00:00Z/P1D", ["2027-01-01T00:00:00", "2027-01-02T00:00:00"]),
        ("R3/2027-01-31T00:00:00Z/P1M", ["2027-01-31T00:00:00", "2027-02-28T00:00:00", "2027-03-31T00:00:00"]),
        ("R3/2028-02-29T00:00:00Z/P1Y", ["2028-02-29T00:00:00", "2029-02-28T00:00:00", "2030-02-28T00:00:00"]),
    ],
)
def test_repeating_intervals(text, dates):
    assert texts(firings(text)) == dates


def test_a_start_in_the_past_keeps_its_phase():
    assert texts(islice(firings("R/2020-01-01T10:37:00Z/P1D"), 2)) == ["2026-11-21T10:37:00", "2026-11-22T10:37:00"]
    assert texts(firings("R2/2026-11-21T10:00:00Z/P1D")) == ["2026-11-21T10:00:00", "2026-11-22T10:00:00"]


def test_a_day_in_a_zone_is_a_day_on_its_clocks():
    berlin = list(firings("R4/2027-03-27T09:00:00[Europe/Berlin]/P1D"))
    assert texts(berlin, "Europe/Berlin") == [f"2027-03-{day}T09:00:00" for day in (27, 28, 29, 30)]
    assert berlin[1] - berlin[0] == 23 * HOUR
    assert [b - a for a, b in pairwise(berlin[1:])] == [DAY, DAY]
    gap = firings("R3/2027-03-27T02:30:00[Europe/Berlin]/P1D")
    assert texts(gap, "Europe/Berlin") == ["2027-03-27T02:30:00", "2027-03-28T03:30:00", "2027-03-29T02:30:00"]
    hours = list(firings("R3/2027-03-28T01:00:00[Europe/Berlin]/PT1H"))
    assert [b - a for a, b in pairwise(hours)] == [HOUR, HOUR]


def test_firing_late_makes_no_drift():
    assert list(firings("R5/PT1M", at=lambda due: due.at + 59 * SECOND)) == [NOW + n * MINUTE for n in range(1, 6)]


@given(
    st.integers(0, 4_000_000_000_000),
    st.integers(0, 3_000_000_000_000),
    st.sampled_from(["P1D", "P1M", "P1Y", "PT7M", "P1M1DT1H", "P3W", "PT1.5S"]),
    st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC"]),
)
@settings(max_examples=100)
def test_the_first_occurrence_is_the_nearest_that_is_not_past(start, since, interval, zone):
    """The previous date would be past, whatever the interval, and the phase is the start's."""
    text = datetime.fromtimestamp(start // 1000, ZoneInfo(zone)).replace(tzinfo=None).isoformat() + f"[{zone}]"
    due = first("cycle", f"R/{text}/{interval}", start + since)
    anchor, number = due.cycle[2:]
    assert due.at >= start + since or (number == 0 and anchor >= start + since)
    if number > 0:
        before = due._replace(cycle=(*due.cycle[:3], number - 2))
        assert next_due(before, 0, RULES).at < start + since


# ---- missed occurrences


@pytest.mark.parametrize("text", ["R/PT1H", "R/2026-11-21T11:00:00Z/PT1H", "0 0 * * * *"])
def test_each_missed_occurrence_fires_up_to_the_limit(text):
    now = NOW + 10 * HOUR + 1
    assert list(islice(firings(text, at=lambda _due: now), 12)) == [NOW + n * HOUR for n in range(1, 13)]
    few = firings(text, rules=TimerRules(missed_limit=3), at=lambda _due: now)
    assert list(islice(few, 5)) == [NOW + n * HOUR for n in (1, 8, 9, 10, 11)]
    none = firings(text, rules=TimerRules(missed_limit=0), at=lambda _due: now)
    assert list(islice(none, 3)) == [NOW + n * HOUR for n in (1, 11, 12)]


def test_skipped_occurrences_of_a_bounded_cycle_count():
    now = NOW + 10 * HOUR + 1
    rules = TimerRules(missed_limit=2)
    assert list(firings("R12/PT1H", rules=rules, at=lambda _due: now)) == [NOW + n * HOUR for n in (1, 9, 10, 11, 12)]
    assert list(firings("R9/PT1H", rules=rules, at=lambda _due: now)) == [NOW + n * HOUR for n in (1, 9)]
    assert list(firings("R8/PT1H", rules=rules, at=lambda _due: now)) == [NOW + HOUR]
    skip = TimerRules(missed_limit=0)
    assert list(firings("R5/PT1H", rules=skip, at=lambda _due: now)) == [NOW + HOUR]


@given(st.integers(1, 60), st.integers(0, 60), st.sampled_from(["0 0/29 * * * *", "0 0 9 * * MON-FRI", "13 5 3 L * *"]))
@settings(max_examples=50)
def test_the_last_missed_ticks_of_a_cron_are_the_last(days, limit, text):
    cron, until = parse_cron(text), NOW + days * DAY
    all_ticks = list(ticks(text, NOW, until))
    kept = list(ticks(text, (cron.latest(limit, NOW, until) or until + 1) - 1, until)) if limit else []
    assert kept == all_ticks[max(len(all_ticks) - limit, 0) :]


def ticks(text, after, until, zone="Z"):
    cron = parse_cron(text)
    while (after := cron.after(after, zone)) is not None and after <= until:
        yield after


# ---- cron

FIELD = {
    "second": (0, 59),
    "minute": (0, 59),
    "hour": (0, 23),
    "day": (1, 31),
    "month": (1, 12),
    "weekday": (0, 6),
}


@st.composite
def fields(draw, name):
    low, high = FIELD[name]
    number = st.integers(low, high)
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        a, b = sorted((draw(number), draw(number)))
        kinds = [f"{a}", f"*/{b + 1}"] if a == b else [f"{a}-{b}", f"{a}-{b}/{b - a}", f"{a}-{high}/2"]
        parts.append(draw(st.sampled_from(kinds)))
    return draw(st.sampled_from(["*", ",".join(parts)]))


@pytest.mark.long
@given(st.data(), st.integers(0, 4_000_000_000))
@settings(max_examples=60)
def test_cron_agrees_with_another_implementation(data, start):
    """Only with one of the two days free: both must fit here, and one is enough there."""
    free = data.draw(st.sampled_from(["day", "weekday"]))
    text = " ".join("*" if name == free else data.draw(fields(name)) for name in FIELD)
    try:
        cron = parse_cron(text)
    except TemporalError:
        assert list(islice(CronSim(text, datetime.fromtimestamp(start, UTC)), 1)) == []
        return
    moment = datetime.fromtimestamp(start, UTC)
    for expected in islice(CronSim(text, moment), 3):
        start = cron.after(start * 1000) // 1000
        assert datetime.fromtimestamp(start, UTC) == expected, text


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("0 0 0 L * ?", ["2026-11-30", "2026-12-31", "2027-01-31", "2027-02-28"]),
        ("0 0 0 L-3 * ?", ["2026-11-27", "2026-12-28", "2027-01-28", "2027-02-25"]),
        ("0 0 0 LW * ?", ["2026-11-30", "2026-12-31", "2027-01-29", "2027-02-26"]),
        ("0 0 0 15W * ?", ["2026-12-15", "2027-01-15", "2027-02-15", "2027-03-15", "2027-04-15", "2027-05-14"]),
        ("0 0 0 1W MAY,AUG ?", ["2027-05-03", "2027-08-02"]),
        ("0 0 0 31W * ?", ["2026-12-31", "2027-01-29", "2027-03-31"]),
        ("0 0 0 ? * 5L", ["2026-11-27", "2026-12-25", "2027-01-29"]),
        ("0 0 0 ? * FRIL", ["2026-11-27", "2026-12-25", "2027-01-29"]),
        ("0 0 0 ? * MON#2", ["2026-12-14", "2027-01-11"]),
        ("0 0 0 ? * 0#5", ["2026-11-29", "2027-01-31"]),
        ("0 0 0 13 * FRI", ["2027-08-13", "2028-10-13"]),
        ("0 0 0 29 2 ?", ["2028-02-29", "2032-02-29"]),
        ("0 0 0 ? * SUN-TUE", ["2026-11-22", "2026-11-23", "2026-11-24", "2026-11-29"]),
        ("0 0 0 ? * sat-sun", ["2026-11-22", "2026-11-28"]),
        ("@weekly", ["2026-11-22", "2026-11-29"]),
        ("@monthly", ["2026-12-01", "2027-01-01"]),
        ("@yearly", ["2027-01-01", "2028-01-01"]),
        ("@daily", ["2026-11-22", "2026-11-23"]),
    ],
)
def test_cron_of_days(text, dates):
    found = texts(islice(firings(text), len(dates)))
    assert found == [f"{date}T00:00:00" for date in dates]


NO_CRON = (
    "|* * * * *|* * * * * * *|60 * * * * *|* * * 32 * *|* * * 0 * *|* * * * 13 *|* * * * * 8|* * * * * MON#6"
    "|* * * L-31 * *|* * * 0W * *|5-1 * * * * *|*/0 * * * * *|*-5 * * * * *|? * * * * *|1,,2 * * * * *"
    "|JAN * * * * *|* * * 31 FEB,APR *|@fortnightly|١ * * * * *"
)


@pytest.mark.parametrize("text", NO_CRON.split("|"))
def test_what_is_no_cron_expression_is_refused(text):
    with pytest.raises(TemporalError):
        parse_cron(text)


def test_a_number_of_thousands_of_digits_is_none_of_a_cron_expression():
    with pytest.raises(TemporalError):
        parse_cron(f"* * * {'1' * 5000} * *")


def test_cron_in_a_zone_follows_its_clocks():
    berlin = TimerRules(cron_zone="Europe/Berlin")
    daily = list(islice(firings("0 30 2 * * *", ms("2027-03-27T12:00:00Z"), berlin), 2))
    assert texts(daily, "Europe/Berlin") == ["2027-03-28T03:30:00", "2027-03-29T02:30:00"]
    daily = list(islice(firings("0 30 2 * * *", ms("2027-10-30T12:00:00Z"), berlin), 2))
    assert texts(daily) == ["2027-10-31T00:30:00", "2027-11-01T01:30:00"]
    for start in ("2027-10-30T22:00:00Z", "2027-03-27T22:00:00Z"):
        hourly = list(islice(firings("0 15 * * * *", ms(start), berlin), 8))
        assert [date - hourly[0] for date in hourly] == [n * HOUR for n in range(8)]


@given(
    st.integers(1_700_000_000, 2_000_000_000),
    st.sampled_from(["0 0/30 * * * *", "0 30 2 * * *", "0 0 1-3 * * SUN", "15 0 0 L * *", "0 45 * 28-31 3,10 *"]),
    st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "+05:30"]),
)
@settings(max_examples=200)
def test_cron_in_a_zone_rises_and_happens_at_its_local_times(start, text, zone):
    cron, moment = parse_cron(text), start * 1000
    tz = ZoneInfo(zone) if "/" in zone else UTC
    for _ in range(4):
        following = cron.after(moment, zone)
        assert following > moment
        if "/" in zone:
            local = datetime.fromtimestamp(following / 1000, tz)
            an_hour_before = datetime.fromtimestamp(following / 1000 - 3600, tz)
            shifted = local.utcoffset() != an_hour_before.utcoffset()
            assert local.minute in cron.minutes or shifted
            assert local.hour in cron.hours or shifted
        moment = following
    assert timedelta(0) < timedelta(milliseconds=moment - start * 1000)


PAGE = Path(__file__).parents[3] / "docs" / "timers.md"


def test_every_example_of_the_page_is_a_due_date():
    """The table of dates, durations and cycles; what is said of cron below it."""
    table = re.findall(r"^\| `time(\w+)` \| (.*?) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    examples = [(kind.lower(), text) for kind, cell in table for text in re.findall("`([^`]+)`", cell)]
    assert len(examples) >= 11
    for kind, text in examples:
        assert first(kind, text).at >= NOW
    cron = PAGE.read_text(encoding="utf-8").split("### Cron")[1].split("##")[0]
    for text in re.findall("`(@\\w+|0 [^`]+)`", cron):
        assert first("cycle", text).at > NOW
    for text in re.findall("`([?L]|L-3|LW|15W)`", cron):
        assert first("cycle", f"0 0 0 {text} * ?").at > NOW
