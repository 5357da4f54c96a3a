"""Mistakes in connectors, webhooks and the outbox (docs/connectors.md)."""

from tests.mutants.mutant import Mutant, mutant

ADDRESSES = "tests/engine/connectors/test_addresses.py"
CLIENT = "tests/engine/connectors/test_http_client.py"
DISPATCHER = "tests/engine/connectors/test_dispatcher.py"
HTTP_JSON = "tests/engine/connectors/test_http_json.py"
WEBHOOKS = "tests/engine/connectors/test_webhooks.py"
OUTBOX = "tests/engine/connectors/test_outbox.py"

CONNECTORS: tuple[Mutant, ...] = (
    mutant(
        "a connector connects to the name instead of the checked address",
        f"{ADDRESSES}::test_a_name_is_resolved_once_and_the_checked_address_is_called",
        "engine/connectors/http/transport.py",
        (
            "                return await self._network.connect_tcp(\n                    address, port,",
            "                return await self._network.connect_tcp(\n                    host, port,",
        ),
    ),
    mutant(
        "only the first address of a name is checked",
        f"{ADDRESSES}::test_one_forbidden_address_of_a_name_is_enough",
        "engine/connectors/http/transport.py",
        (
            "    for address in addresses:\n        policy",
            "    for address in addresses[:1]:\n        policy",
        ),
    ),
    mutant(
        "addresses of IPv4 in those of IPv6 are not seen",
        f"{ADDRESSES}::test_a_setting_allows_nothing_else",
        "engine/connectors/http/addresses.py",
        ("        yield from _embedded(address)", "        yield from ()"),
    ),
    mutant(
        "credentials follow to another host",
        f"{CLIENT}::test_a_redirect_to_another_host_gets_no_credentials",
        "engine/connectors/http/http_client.py",
        ('content=b""), hop.private if same else {})', 'content=b""), hop.private)'),
    ),
    mutant(
        "a response shows its secrets",
        f"{HTTP_JSON}::test_credentials_are_sent_and_never_come_back",
        "engine/connectors/outbound/http_json.py",
        ("used.mask(response_document(response))", "response_document(response)"),
    ),
    mutant(
        "secrets are put into a variable that has changed since its mapping",
        "tests/engine/connectors/test_secret_places.py::test_a_variable_that_has_changed_gets_no_secret",
        "engine/connectors/work/secrets.py",
        ("places is None or places.sha256 != digest(text)", "places is None"),
    ),
    mutant(
        "a prompt gets the secrets of the connection",
        "tests/engine/connectors/test_secret_places.py::test_only_connection_inputs_get_secrets_where_a_contract_says_so",
        "engine/connectors/work/secrets.py",
        ("places.places if only is None else", "places.places if True else"),
    ),
    mutant(
        "a call goes on although its job is gone",
        f"{DISPATCHER}::test_a_call_ends_when_its_job_is_gone",
        "engine/connectors/work/leases.py",
        ("        held.scope.cancel()\n", ""),
    ),
    mutant(
        "a message is sent again when its call is made again",
        "tests/engine/connectors/test_send_message.py::test_a_call_that_is_made_again_sends_nothing_again",
        "engine/connectors/outbound/own_commands.py",
        (
            "item = Append(command, tenant, key, idempotency, partition)",
            "item = Append(command, tenant, key, None, partition)",
        ),
    ),
    mutant(
        "a mail goes out in plain text if the server offers no TLS",
        "tests/engine/connectors/test_email.py::test_nothing_is_sent_to_a_server_that_refuses_starttls",
        "engine/connectors/outbound/smtp.py",
        (
            "        if self._server.security == STARTTLS:\n",
            "        if self._server.security == STARTTLS and self.has_extn('starttls'):\n",
        ),
    ),
    mutant(
        "a subject may add headers",
        "tests/engine/connectors/test_email.py::test_wrong_inputs_reach_no_server",
        "engine/connectors/outbound/mail_messages.py",
        (' or not text.replace("\\t", " ").isprintable()', ""),
    ),
    mutant(
        "jobs of calls that were cut off stay leased",
        f"{DISPATCHER}::test_a_call_that_was_cut_off_is_made_again",
        "engine/connectors/work/leases.py",
        ("        if held:\n", "        if held and False:\n"),
    ),
    mutant(
        "a wrong HMAC is enough",
        f"{WEBHOOKS}::test_who_may_call",
        "engine/connectors/inbound/webhook_access.py",
        ('        raise NotAuthenticated("wrong HMAC")', "        return"),
    ),
    mutant(
        "a repeated call of a webhook has another effect",
        f"{WEBHOOKS}::test_repeated_calls_start_one_instance",
        "api/routes/inbound.py",
        ("    headers = [] if id is None else", "    headers: list[tuple[bytes, bytes]] = [] if True else"),
    ),
    mutant(
        "two processes share the path of a webhook",
        f"{WEBHOOKS}::test_of_two_claims_of_a_path_the_older_one_has_it",
        "engine/connectors/inbound/webhook_registry.py",
        ("        conflict = webhook.path in paths\n", "        conflict = False\n"),
    ),
    mutant(
        "the events of an instance are delivered side by side",
        f"{OUTBOX}::test_each_instance_has_its_order_whatever_fails",
        "storage/background/outbox.sql",
        ("    THEN 'pending' ELSE 'held' END\nFROM unnest", "    THEN 'pending' ELSE 'pending' END\nFROM unnest"),
    ),
    mutant(
        "what waits behind a delivered event is forgotten",
        f"{OUTBOX}::test_a_dead_letter_holds_its_instance_and_no_other",
        "storage/background/outbox.sql",
        (
            "UPDATE outbox_deliveries SET state = 'pending', due_at = clock_timestamp()\nWHERE state = 'held'",
            "UPDATE outbox_deliveries SET state = 'held', due_at = clock_timestamp()\nWHERE state = 'held'",
        ),
    ),
)
