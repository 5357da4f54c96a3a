"""Contracts: each names code and settings that exist, and none of that is imported before a job comes."""

import subprocess
import sys
from importlib import import_module

import pytest

from tests.engine.connectors.http_calls import HTTP_TYPE
from vivero.core.shared.secret_places import FAMILY
from vivero.engine.connectors.contents import BY_TYPE, CONTRACTS, by_type
from vivero.engine.connectors.contract import Contract
from vivero.engine.connectors.http.requests import METHODS

each_contract = pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: contract.name)


@each_contract
def test_a_contract_names_what_there_is(contract: Contract):
    module, _, name = contract.handler.partition(":")
    assert callable(getattr(import_module(module), name).answer)
    assert all(type.startswith(FAMILY) for type in contract.types), "their inputs get secrets"
    names = [each.name for each in contract.inputs]
    assert len(set(names)) == len(names)
    for path in contract.secrets or ():
        assert any(f"{name}.".startswith(f"{path}.") for name in names), path
    assert (contract.extra is None) == (not contract.modules)


def test_the_table_has_each_type_once():
    assert BY_TYPE[HTTP_TYPE] is CONTRACTS[0]
    with pytest.raises(ValueError, match="two connectors have the type"):
        by_type([CONTRACTS[0], CONTRACTS[0]])


def test_the_contract_of_http_calls_is_what_the_client_does():
    assert BY_TYPE[HTTP_TYPE].by_name["method"].choices == METHODS


LIBRARIES = ("httpx", "smtplib", "imaplib", "email.message", "trio", "structlog", "psycopg")


def test_contracts_import_no_libraries():
    code = (
        f"import sys, vivero.engine.connectors.contents; print([each for each in {LIBRARIES} if each in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
