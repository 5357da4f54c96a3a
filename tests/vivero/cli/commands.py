"""Commands that tests run in their own process, against a server."""

import json

from click.testing import CliRunner

from vivero.cli import main


def at(address):
    """A function that runs a command against the server at this address."""

    def invoke(*arguments, **options):
        environment = {"VIVERO_ADDRESS": address, "COLUMNS": None}
        return CliRunner().invoke(main, arguments, env=environment, catch_exceptions=False, **options)

    return invoke


def good(result):
    """The output of a command that succeeds."""
    assert result.exit_code == 0, result.stderr
    return result.stdout


def lines(text):
    """The documents of JSON Lines."""
    return [json.loads(line) for line in text.splitlines()]
