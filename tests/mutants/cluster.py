"""Mistakes in how partitions are spread over nodes (docs/several-nodes.md)."""

from tests.mutants.mutant import Mutant, mutant

BALANCE = "tests/engine/cluster/test_balance.py"
NODES = "tests/engine/cluster/test_cluster.py"
LEADERSHIP = "tests/engine/consumer/test_leadership.py"
TASK = "engine/cluster/task.py"

CLUSTER: tuple[Mutant, ...] = (
    mutant(
        "balance: the odd partitions go to those that lead least",
        f"{BALANCE}::test_no_even_assignment_moves_fewer",
        "engine/cluster/balance.py",
        ("(-len(held[node]), node)", "(len(held[node]), node)"),
    ),
    mutant(
        "balance: the order of the nodes decides",
        f"{BALANCE}::test_random_assignments_are_even_total_and_stable",
        "engine/cluster/balance.py",
        ("for node in sorted(nodes)}", "for node in nodes}"),
    ),
    mutant(
        "a partition is handed over to a node that is not ready",
        f"{NODES}::test_a_leader_keeps_a_partition_until_the_other_node_is_ready",
        TASK,
        (" and partition.id in meant.ready\n", "\n"),
    ),
    mutant(
        "others claim a free partition without grace",
        f"{NODES}::test_others_claim_a_free_partition_after_the_grace",
        TASK,
        ("since >= self._settings.grace_s", "since >= 0"),
    ),
    mutant(
        "others never claim a free partition",
        f"{NODES}::test_others_claim_a_free_partition_after_the_grace",
        TASK,
        ("return Duty.OURS if is_free else Duty.ELSEWHERE", "return Duty.ELSEWHERE"),
    ),
    mutant(
        "the last node that drains leads nothing",
        f"{NODES}::test_the_last_node_that_drains_goes_on",
        TASK,
        ("for node in staying or engines}", "for node in staying}"),
    ),
    mutant(
        "a term that handed over counts as one without progress",
        f"{LEADERSHIP}::test_a_term_that_was_handed_over_leaves_no_suspicion",
        "storage/cluster/leadership.py",
        ("max(self.moved_by, self.handed_over)", "self.moved_by"),
    ),
    mutant(
        "handing over keeps the lease",
        f"{LEADERSHIP}::test_a_partition_that_is_handed_over_is_free_and_nothing_is_lost",
        "engine/consumer/term.py",
        ("        await self._committer.hand_over()\n", ""),
    ),
)
