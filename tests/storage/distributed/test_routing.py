"""Each statement of the log, the batches, activation and timers goes to one shard, or has a reason not to."""

import re

import pytest

from tests.storage.distributed.statements import COLUMNS, called, laid_out, named_tables, partitions, statements_of
from tests.storage.distribution import BELONGS, GLOBAL
from vivero.storage.log import attempts, command_log, log_batches
from vivero.storage.postgres.sql_files import beside
from vivero.storage.schema.catalogue import DISTRIBUTED_FILE, expected
from vivero.storage.state import compensations, load, message_channels, save
from vivero.storage.work import activation, timers

FILES = {
    module.__name__.split(".")[-1]: beside(module.__file__)
    for module in (
        *(attempts, command_log, log_batches, compensations, load, message_channels, save),
        *(activation, timers),
    )
}
STATEMENTS = {one.name: one for file in FILES.values() for one in file.values()}
OF_TERMS = {"attempts", "log_batches", "compensations", "load", "message_channels", "save"}
"""The consumer of a partition sends them, with keys of its own rows alone (tests/engine/test_apart.py). Their
partition is a further parameter."""

BY_KEYS = {
    **dict.fromkeys(
        ("command_log.command", "command_log.tenant_of_command", "command_log.events_of_command"),
        "one position, which contains the partition",
    ),
    **dict.fromkeys(
        ("activation.extend", "activation.lease", "activation.release_one"), "one key, which contains the partition"
    ),
    **dict.fromkeys(
        ("activation.activated_jobs", "activation.activated_jobs_named", "activation.release"),
        "the jobs of one activation, which asks one partition",
    ),
    "command_log.history": "one instance, whose key contains the partition",
}
ONE_AFTER_THE_OTHER = {
    f"activation.{name}"
    for name in (
        *("activate", "activate_named", "activate_small", "activate_small_named", "activate_near"),
        *("activate_near_named", "take_back", "next_available"),
    )
}
"""They lock rows, which Citus does within one shard only: an activation asks partition after partition."""
FANS_OUT = {
    "command_log.outcomes": "positions of any partitions; they can be grouped",
    "command_log.lost": "positions of any partitions; they can be grouped",
    "command_log.ended": "keys of any partitions; they can be grouped",
    "timers.purge_stuck": "a chore, for all partitions at once",
    "timers.purge": "a chore, for all partitions at once",
    "message_channels.purge_subscriptions": "a chore, for all partitions at once",
    "message_channels.purge_correlations": "a chore, for all partitions at once",
    "message_channels.expire": "its start locks are those of all partitions",
    "load.running_elsewhere": "it asks the other partitions whether they run a definition; rare",
}
"""Statements that ask several shards, and why."""
CROSSES = {
    "save.inbox": "follow-ups go to other partitions: a transaction of two shards",
    "save.returned_commands": "commands that are held are under the partition 0",
    "save.released_commands": "commands that are held are under the partition 0; a row changes its partition",
    "save.held_commands": "commands that are held while slots move are under the negative partition",
    "load.held_commands": "commands that are held while slots move are under the negative partition",
    "save.slot_detours": "a move of slots writes a row for each partition; rare",
}
"""Statements that write, or count, rows under another partition than that of their batch, and why."""
AT_THE_COORDINATOR = {
    "attempts.begin": {"partitions"},
    "attempts.suspect": {"partitions"},
    "command_log.lost": {"partitions"},
    "command_log.command": {"partitions"},
    "command_log.events_of_command": {"partitions"},
    "command_log.tenant_of_command": {"partitions"},
    "message_channels.expire": {"partitions", "documents"},
}
"""Statements that also name tables which only the coordinator has: it must read them first."""
FUNCTIONS = {
    "append_commands": ("p",),
    "append_fresh": ("p",),
    "forward_inbox": ("p",),
    "fence": ("p",),
    "fence_between": ("p",),
    "require_untaken": (),
}
"""Functions of these statements that touch distributed tables, with the argument that is the partition."""
UNROUTED_FUNCTIONS = {
    "begin_appends": "after a crash it moves the positions and keys of every partition",
    "job_as_shown": "for jobs of task listeners it reads the user task, which a function at a worker cannot",
}
REFERENCE = set(re.findall(r"create_reference_table\('(\w+)'\)", DISTRIBUTED_FILE.read_text()))
LOCAL = set(GLOBAL) - REFERENCE
DEFINITIONS = {name.split()[1].split("(")[0]: text for name, text in expected().items() if name.startswith("function ")}


def is_routed(text, values=()):
    bound = {partition for _, partition in partitions(text, values)}
    return len(bound) < 2 and None not in bound


def test_each_statement_is_routed_or_says_why_not():
    """A new statement names its partition, or goes into one of the lists above."""
    unlisted = {
        name
        for name, statement in STATEMENTS.items()
        if name.split(".")[0] not in OF_TERMS and not is_routed(statement.text)
    } - set(BY_KEYS) - ONE_AFTER_THE_OTHER - set(FANS_OUT)  # fmt: skip
    assert unlisted == set()
    listed = {*BY_KEYS, *ONE_AFTER_THE_OTHER, *FANS_OUT}
    assert {name for name in listed if is_routed(STATEMENTS[name].text)} == set(), "they name their partition"


def test_the_layout_routes_each_statement():
    bound = {name: {one for _, one in partitions(laid_out(statement.text))} for name, statement in STATEMENTS.items()}
    assert {name for name, found in bound.items() if len(found) > 1 or None in found} <= set(CROSSES)
    within = {name for name in CROSSES if len(bound[name]) == 1 and str(*bound[name]).startswith("$")}
    assert within == set(), "they stay in their partition: take them off the list"


def test_only_the_named_functions_touch_distributed_tables():
    touching = {name for name in set().union(*(called(one.text) for one in STATEMENTS.values())) if touched(name)}
    assert touching == {*FUNCTIONS, *UNROUTED_FUNCTIONS}


def touched(name):
    """The distributed tables in a function, and in those that it calls."""
    definition = DEFINITIONS.get(name)
    if definition is None:
        return set()
    words = set(re.findall(r"\w+", definition.partition("AS $function$")[2]))
    return (words & set(BELONGS)).union(*(touched(other) for other in words & set(DEFINITIONS) - {name}))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_layout_routes_each_statement_of_functions(name):
    texts = list(statements_of(DEFINITIONS[name]))
    assert any(list(partitions(text, FUNCTIONS[name])) for text in texts)
    for text in texts:
        after = laid_out(text, "p", FUNCTIONS[name]) if list(partitions(text)) else text
        assert is_routed(after, ("p",)), text


def test_locks_sequences_and_notifications_stay_at_the_coordinator():
    """No statement or function that a worker runs uses what each server has for itself."""
    serving = {name for name in DEFINITIONS if uses_the_server(DEFINITIONS[name])}
    assert {"append_commands", "append_fresh", "forward_inbox", "notify_identities"} <= serving
    at_workers = set(re.findall(r"create_distributed_function\('(\w+)\(", DISTRIBUTED_FILE.read_text()))
    assert len(at_workers) > 5
    assert at_workers & serving == set()
    routed = {name for name, one in STATEMENTS.items() if named_tables(one.text) & set(COLUMNS)}
    assert {name for name in routed if uses_the_server(STATEMENTS[name].text)} == set()


def uses_the_server(text):
    return re.search(r"\b(pg_advisory\w*|pg_notify|nextval|setval|LISTEN)\b", text) is not None


def test_only_these_statements_also_need_tables_of_the_coordinator():
    found = {
        name: named_tables(statement.text) & LOCAL
        for name, statement in STATEMENTS.items()
        if named_tables(statement.text) & LOCAL and named_tables(statement.text) & set(COLUMNS)
    }
    assert found == AT_THE_COORDINATOR


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT FROM jobs WHERE partition_id = $1", ["$1"]),
        ("SELECT FROM jobs WHERE partition_id = $1 OR job_key = $2", [None]),
        ("SELECT FROM jobs WHERE partition_id = ANY ($1)", [None]),
        ("SELECT FROM jobs WHERE NOT partition_id = $1", [None]),
        ("SELECT FROM jobs j, timers t WHERE j.partition_id = $1 AND t.partition_id = j.partition_id", ["$1", None]),
        ("SELECT FROM clock c LEFT JOIN jobs j ON j.partition_id = $1::int", ["$1"]),
        ("SELECT FROM jobs j LEFT JOIN timers t ON j.partition_id = $1 AND t.partition_id = $1", [None, "$1"]),
        ("WITH jobs AS (SELECT 1) SELECT FROM jobs", []),
        (
            "UPDATE jobs SET ready = true WHERE job_key IN (SELECT job_key FROM jobs WHERE partition_id = 1)",
            [None, "1"],
        ),
        ("INSERT INTO batches VALUES ($1, 2)", ["$1"]),
        ("INSERT INTO jobs (partition_id) SELECT $1 UNION ALL SELECT 2", [None]),
        ("UPDATE inbox SET target_partition = $2 WHERE target_partition = $1", [None]),
    ],
)
def test_what_binds_a_table(text, expected):
    assert [partition for _, partition in partitions(text)] == expected
