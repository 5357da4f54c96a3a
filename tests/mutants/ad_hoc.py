"""Mistakes in ad-hoc sub-processes."""

from tests.mutants.mutant import Mutant, mutant

ELEMENT = "core/elements/ad_hoc_sub_process.py"
SHARED = "core/shared/ad_hoc_activations.py"
TESTS = "tests/core/elements/test_ad_hoc_sub_process.py"
JOBS = "tests/core/elements/test_ad_hoc_jobs.py"

AD_HOC: tuple[Mutant, ...] = (
    mutant(
        "ad-hoc: a condition that was true is forgotten",
        f"{TESTS}::test_6_a_true_condition_may_wait_for_the_rest_and_remembers_that_it_was_true",
        SHARED,
        ("return scope.is_open and not progress_of(scope).fulfilled", "return scope.is_open"),
    ),
    mutant(
        "ad-hoc: what meets at a join begins apart",
        f"{TESTS}::test_10_elements_that_meet_at_a_join_share_an_inner_instance",
        SHARED,
        ("        left = settings.activatable[one[0]]\n", "        left = 0\n"),
    ),
    mutant(
        "ad-hoc: the condition decides after an interrupting event sub-process, too",
        f"{TESTS}::test_14_after_an_interrupting_event_sub_process_it_completes_without_its_condition",
        ELEMENT,
        ("over = progress.fulfilled or scope.interrupted", "over = progress.fulfilled"),
    ),
    mutant(
        "ad-hoc: a result is kept around the inner instances",
        f"{TESTS}::test_9_the_same_element_may_be_active_twice",
        ELEMENT,
        ('{settings.result: "null"} | variables', "variables"),
    ),
    mutant(
        "ad-hoc: a second job is opened beside the first",
        f"{JOBS}::test_11_a_job_is_replaced_when_an_element_completes",
        ELEMENT,
        ("        yield from cancel_jobs(scope)\n", ""),
    ),
)
