"""Mistakes in what crosses between partitions (docs/design/partitions.md)."""

from tests.mutants.mutant import Mutant, mutant

CROSSING = "tests/core/partitions/test_crossing.py"
INTERLEAVINGS = "tests/core/partitions/test_interleavings.py"
ONE_RECEIVER = f"{INTERLEAVINGS}::test_each_message_has_one_receiver_and_nothing_stays_open"

MOVES = f"{INTERLEAVINGS}::test_slots_move_meanwhile"

PARTITIONS: tuple[Mutant, ...] = (
    mutant(
        "a timer of a pinned tenant starts its process where the timer is",
        "tests/core/partitions/test_crossing.py::test_a_timer_starts_an_instance_in_a_partition_of_its_tenant",
        "core/view.py",
        ("if pinned is None or self.state.partition in pinned:", "if True:"),
    ),
    mutant(
        "a command is handled at the wrong partition",
        f"{CROSSING}::test_a_message_published_anywhere_reaches_the_element",
        "core/execution/step.py",
        ("        if self.several and self.is_elsewhere(command, record.tenant):\n", "        if False:\n"),
    ),
    mutant(
        "the rejection of a forwarded command answers nobody",
        f"{CROSSING}::test_its_rejection_answers_the_client",
        "core/execution/step.py",
        (
            "            own.answered = command.answers_its_request()  # it was forwarded, or had to wait\n",
            "            pass\n",
        ),
    ),
    mutant(
        "a follow-up of another partition runs here",
        ONE_RECEIVER,
        "core/execution/step.py",
        ("send.later or (self.several and self._leaves(send.command))", "send.later"),
    ),
    mutant(
        "a channel opens only the subscriptions of its own partition",
        f"{CROSSING}::test_a_message_published_anywhere_reaches_the_element",
        "core/commands/message.py",
        ("view.is_of_this_partition(command.key) and view.subscription", "view.subscription"),
    ),
    mutant(
        "a signal stays in its partition",
        f"{CROSSING}::test_a_signal_reaches_the_elements_of_all_partitions",
        "core/commands/signal.py",
        ("    for partition in view.other_partitions():\n", "    for partition in ():\n"),
    ),
    mutant(
        "a signal keeps its key in other partitions",
        f"{CROSSING}::test_a_signal_reaches_the_elements_of_all_partitions",
        "core/commands/signal.py",
        ("replace(command, key=view.key(), partition=0)", "replace(command, partition=0)"),
    ),
    mutant(
        "the instances of other partitions do not count",
        f"{CROSSING}::test_a_definition_drains_until_its_last_instance_has_ended_in_every_partition",
        "core/commands/catalogue.py",
        ("    elif not view.running_elsewhere(definition.key):\n", "    else:\n"),
    ),
    mutant(
        "no partition is asked whether its instances have ended",
        f"{CROSSING}::test_an_instance_that_ends_while_its_definition_is_deleted_leaves_nothing_draining",
        "core/commands/catalogue.py",
        ("        for partition in view.other_partitions():\n", "        for partition in ():\n"),
    ),
    mutant(
        "commands cross between partitions as if nothing were in order",
        ONE_RECEIVER,
        "tests/core/cluster.py",
        ("self.inboxes[source, target].popleft()", "self.inboxes[source, target].pop()"),
    ),
    # Moves of slots
    mutant(
        "a sender does not hold its commands while it switches",
        MOVES,
        "core/partitions/routes.py",
        ("-here if self.detour.held else self.detour.previous", "self.detour.previous"),
    ),
    mutant(
        "a sender switches to the new owner at once",
        MOVES,
        "core/partitions/routes.py",
        ("        if self.detour is None:\n", "        if True:\n"),
    ),
    mutant(
        "held commands keep their place in the inbox",
        "tests/storage/test_routes.py::test_held_commands_come_after_those_that_were_sent_on",
        "storage/state/save.sql",
        (
            "INSERT INTO inbox (target_partition, request, tenant_id, intent, key, payload, trace, audit)\n"
            "SELECT $2, request, tenant_id, intent, key, payload, trace, audit FROM held ORDER BY id;",
            "INSERT INTO inbox (target_partition, id, request, tenant_id, intent, key, payload, trace, audit)\n"
            "OVERRIDING SYSTEM VALUE SELECT $2, id, request, tenant_id, intent, key, payload, trace, audit FROM held;",
        ),
    ),
    mutant(
        "held commands are released in one portion, however many they are",
        MOVES,
        "core/commands/slots.py",
        ("    if view.held_commands() > HELD_AT_ONCE:", "    if False:"),
    ),
    mutant(
        "a sender stops holding when it has sent the first portion",
        MOVES,
        "core/commands/slots.py",
        ("        yield Send(command, later=True)\n", "        yield SlotsReleased(view.key())\n"),
    ),
    mutant(
        "a batch goes on when it has released what was held",
        f"{CROSSING}::test_a_batch_ends_when_it_releases_what_was_held",
        "core/apply/slots.py",
        ("    state.rerouted = True\n", ""),
    ),
    mutant(
        "slots move to a partition whose keys are lower",
        f"{CROSSING}::test_slots_move_upwards_only",
        "core/commands/slots.py",
        ("    if not here < command.to <= routes.partitions:", "    if not 0 < command.to <= routes.partitions:"),
    ),
)
