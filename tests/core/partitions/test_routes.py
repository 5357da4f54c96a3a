"""Owners: of slots of names, of commands and of tenants."""

from hashlib import md5

import pytest

from vivero.core.dispatch import COMMANDS
from vivero.core.partitions.routes import ONE_PARTITION, SLOTS, Routes, slot_of, spread
from vivero.core.records.instances import CancelInstance, ContinueWork, CreateInstance
from vivero.core.records.messages import CloseSubscription, Offer, PublishMessage, RejectCorrelation
from vivero.core.records.signals import BroadcastSignal, DeliverSignal

ROUTES = Routes(1, 4, spread(4), {"acme": (2, 3)})


def key(partition, n=7):
    return partition << 51 | n


def test_every_command_says_where_it_is_handled_and_who_sends_it():
    assert all({"home", "sent_by"} <= set(vars(command)) for command in COMMANDS)


def test_one_partition_is_the_home_of_all():
    for command in (
        CancelInstance(key(1)),
        CreateInstance("p"),
        PublishMessage("m", "k"),
        DeliverSignal(key(1), "s", 0),
    ):
        assert command.home_in("t", ONE_PARTITION, 1) == 1, command


def test_a_slot_is_the_hash_of_tenant_and_name():
    """The documented formula: other programs compute it, too."""
    assert slot_of("<default>", "order-1") == int(md5(b"<default>:order-1").hexdigest()[:4], 16) % 1024
    assert slot_of("", "") == int(md5(b":").hexdigest()[:4], 16) % SLOTS


def test_slots_spread_evenly():
    owners = spread(3)
    assert len(owners) == SLOTS
    assert {owners.count(partition) for partition in (1, 2, 3)} == {341, 342}


def test_a_key_is_handled_by_its_partition():
    assert CancelInstance(key(3)).home_in("t", ROUTES, 1) == 3


@pytest.mark.parametrize("partition", [0, 5, 4_000])
def test_a_key_of_no_partition_is_handled_where_it_is(partition):
    assert CancelInstance(key(partition)).home_in("t", ROUTES, 2) == 2


def test_what_concerns_a_channel_is_handled_by_the_owner_of_its_slot():
    owner = ROUTES.slots[slot_of("t", "k")]
    assert PublishMessage("m", "k").home_in("t", ROUTES, 9) == owner
    assert CloseSubscription(1, "t", "k").home_in("other", ROUTES, 9) == owner
    assert RejectCorrelation(1, "t", Offer("m", correlation_key="k")).home_in("other", ROUTES, 9) == owner


def test_a_creation_is_handled_where_it_is():
    assert CreateInstance("p").home_in("t", ROUTES, 3) == 3


def test_a_signal_on_its_way_names_its_partition():
    assert DeliverSignal(key(1), "s", 0, partition=4).home_in("t", ROUTES, 1) == 4
    assert DeliverSignal(key(1), "s", 0).home_in("t", ROUTES, 1) == 1


def test_new_work_of_a_tenant_begins_in_its_partitions():
    assert ROUTES.of_tenant("acme") == (2, 3)
    assert list(ROUTES.of_tenant("others")) == [1, 2, 3, 4]


def test_the_outcome_of_a_command_that_an_element_sends_answers_nobody():
    assert PublishMessage("m").answers_its_request()
    assert not PublishMessage("m", thrower=key(1)).answers_its_request()
    assert not BroadcastSignal("m", thrower=key(1)).answers_its_request()
    assert not ContinueWork(key(1)).answers_its_request()
