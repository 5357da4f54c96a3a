"""Each action of the console has a button that names the permission that the server asks for.

The server refuses each route without it (tests/api/access/test_matrix.py). A button does nothing without its
permission, and says which one lacks (tests/console/test_access.py).
"""

import re
from functools import cache
from itertools import product

from tests.console.conftest import CONSOLE
from vivero.api.access.needs import ANY_CALLER
from vivero.api.callers.permissions import RESOURCES, Permission
from vivero.api.routes import ROUTES

SOURCES = CONSOLE / "src"

COMMANDS = """
editor/drafts.ts               editor/editor.tsx              PUT /v2/model-drafts/{}
editor/drafts.ts               editor/editor.tsx              POST /v2/model-drafts
editor/bpmn/simulation.tsx     editor/bpmn/simulation.tsx     POST /v2/simulations
editor/dmn/trial.tsx           editor/dmn/trial.tsx           POST /v2/simulations
lib/batches.ts                 pages/batch.tsx                POST /v2/process-instances/cancellation
+                              pages/batch.tsx                POST /v2/process-instances/deletion
+                              pages/batch.tsx                POST /v2/process-instances/suspension
+                              pages/batch.tsx                POST /v2/process-instances/resumption
+                              pages/batch.tsx                POST /v2/incidents/resolution
+                              pages/batch.tsx                POST /v2/decision-instances/deletion
lib/batches.ts                 pages/batch.tsx                POST /v2/process-instances/incident-resolution
lib/cures.ts                   pages/incidents.tsx            PUT /v2/element-instances/{}/variables
lib/cures.ts                   pages/instance_actions.tsx     PATCH /v2/jobs/{}
lib/cures.ts                   pages/incident_cards.tsx       POST /v2/incidents/{}/resolution
lib/deployments.ts             pages/deploy.tsx               POST /v2/deployments
+                              editor/actions.tsx             POST /v2/deployments
lib/operations/migration.ts    pages/migration/run.tsx        POST /v2/process-instances/{}/migration
lib/operations/migration.ts    pages/migration/run.tsx        POST /v2/process-instances/migration
lib/operations/modification.ts pages/modification/panel.tsx   POST /v2/process-instances/{}/modification
+                              pages/instance_actions.tsx     POST /v2/process-instances/{}/modification
pages/access/entry.tsx         pages/access/entry.tsx         DELETE /v2/{kind}/{}
pages/access/entry_dialog.tsx  pages/access/entry.tsx         PUT /v2/{kind}/{}
pages/access/entry_dialog.tsx  pages/access/entries.tsx       POST /v2/{kind}
pages/access/grants.tsx        pages/access/grants.tsx        PUT /v2/authorizations/{}
pages/access/grants.tsx        pages/access/grants.tsx        POST /v2/authorizations
pages/access/grants.tsx        pages/access/grants.tsx        DELETE /v2/authorizations/{}
pages/access/members.tsx       pages/access/members.tsx       PUT /v2/groups/{}/users/{}
+                              pages/access/members.tsx       DELETE /v2/roles/{}/groups/{}
+                              pages/access/members.tsx       PUT /v2/tenants/{}/clients/{}
pages/access/sessions.tsx      pages/access/sessions.tsx      DELETE /v2/users/{}/sessions/{}
+                              -                              DELETE /v2/authentication/me/sessions/{}
pages/access/sessions.tsx      pages/access/sessions.tsx      DELETE /v2/users/{}/sessions
pages/access/tokens.tsx        -                              POST /v2/authentication/me/tokens
pages/access/tokens.tsx        pages/access/tokens.tsx        POST /v2/tokens
pages/access/tokens.tsx        pages/access/tokens.tsx        DELETE /v2/tokens/{}
+                              -                              DELETE /v2/authentication/me/tokens/{}
pages/ad_hoc.tsx               pages/ad_hoc.tsx               POST /v2/element-instances/ad-hoc-activities/{}/activation
pages/alert_rules.tsx          pages/alert_rules.tsx          POST /v2/alert-rules
pages/alert_rules.tsx          pages/alert_rules.tsx          PATCH /v2/alert-rules/{}
pages/alert_rules.tsx          pages/alert_rules.tsx          POST /v2/alert-rules/{}/test
pages/alert_rules.tsx          pages/alert_rules.tsx          DELETE /v2/alert-rules/{}
pages/background_jobs.tsx      pages/background_jobs.tsx      PUT /background-job-types/{}/pause
+                              pages/background_jobs.tsx      DELETE /background-job-types/{}/pause
pages/background_jobs.tsx      pages/background_jobs.tsx      POST /background-jobs/{}/run
+                              pages/background_jobs.tsx      POST /background-jobs/{}/retry
+                              pages/background_jobs.tsx      POST /background-jobs/{}/cancel
pages/background_jobs.tsx      pages/background_jobs.tsx      DELETE /background-jobs/{}
pages/batches.tsx              pages/batches.tsx              POST /v2/batch-operations/{}/suspension
+                              pages/batches.tsx              POST /v2/batch-operations/{}/resumption
+                              pages/batches.tsx              POST /v2/batch-operations/{}/cancellation
pages/cluster_variables.tsx    pages/cluster_variables.tsx    POST /v2/cluster-variables/global
+                              pages/cluster_variables.tsx    POST /v2/cluster-variables/tenants/{}
pages/cluster_variables.tsx    pages/cluster_variables.tsx    PUT /v2/cluster-variables/global/{}
+                              pages/cluster_variables.tsx    PUT /v2/cluster-variables/tenants/{}/{}
pages/cluster_variables.tsx    pages/cluster_variables.tsx    DELETE /v2/cluster-variables/global/{}
+                              pages/cluster_variables.tsx    DELETE /v2/cluster-variables/tenants/{}/{}
pages/decision_instance.tsx    pages/decision_instance.tsx    POST /v2/decision-instances/{}/deletion
pages/delete_definition.tsx    pages/delete_definition.tsx    POST /v2/resources/{}/deletion
pages/drafts.tsx               pages/drafts.tsx               DELETE /v2/model-drafts/{}
pages/evaluate.tsx             pages/evaluate.tsx             POST /v2/decision-definitions/evaluation
pages/feel.tsx                 pages/feel.tsx                 POST /v2/expression/evaluation
pages/instance_actions.tsx     pages/instance_actions.tsx     POST /v2/process-instances/{}/deletion
pages/instance_actions.tsx     pages/instance_actions.tsx     POST /v2/process-instances/{}/cancellation
pages/jobs.tsx                 pages/jobs.tsx                 PATCH /v2/jobs/{}
pages/message_actions.tsx      pages/message_actions.tsx      POST /v2/messages/publication
pages/message_actions.tsx      pages/message_actions.tsx      POST /v2/signals/broadcast
pages/message_actions.tsx      pages/message_actions.tsx      POST /v2/conditionals/evaluation
pages/set_variables.tsx        parts/variables.tsx            PUT /v2/element-instances/{}/variables
+                              pages/instance_actions.tsx     PUT /v2/element-instances/{}/variables
pages/start.tsx                pages/start.tsx                POST /v2/process-instances
pages/suspension.tsx           pages/suspension.tsx           POST /v2/process-instances/{}/suspension
+                              pages/suspension.tsx           POST /v2/process-instances/{}/resumption
pages/task_assignment.tsx      pages/task_assignment.tsx      POST /v2/user-tasks/{}/assignment
pages/task_assignment.tsx      pages/task_assignment.tsx      DELETE /v2/user-tasks/{}/assignee
pages/task_assignment.tsx      pages/task_assignment.tsx      POST /v2/user-tasks/{}/assignment
pages/task_comments.tsx        pages/task_comments.tsx        POST /v2/user-tasks/{}/comments
pages/tasks.tsx                pages/tasks.tsx                POST /v2/user-tasks/{}/completion
pages/timers.tsx               pages/timers.tsx               POST /v2/timers/{}/trigger
pages/timers.tsx               pages/timers.tsx               PATCH /v2/timers/{}
pages/undo.tsx                 pages/undo.tsx                 POST /v2/process-instances/{}/undo
pages/view_choice.tsx          -                              POST /v2/saved-views
pages/view_choice.tsx          -                              DELETE /v2/saved-views/{}
pages/resources.tsx            pages/resources.tsx            POST /v2/resources/{}/deletion
lib/documents.ts               form                           POST /v2/documents
"""
"""The file with the command, the file with its button, the route, without the names of its ids.

`+`: another route of the command above. `-`: each caller may do it, with what is their own. `form`: a form stores its
files as it is sent, so its button is the one of its task or its start, and the file picker tells that one is refused.
"""

READS = {
    "editor/validation.ts": 1,
    "lib/api.ts": 1,
    "lib/counts.ts": 1,
    "lib/instance.ts": 1,
    "lib/operations/dry_run.ts": 1,
    "lib/operations/migration.ts": 1,
    "lib/session.ts": 2,
    "pages/ad_hoc.tsx": 1,
    "pages/background_jobs.tsx": 1,
    "pages/process.tsx": 1,
    "pages/tasks.tsx": 1,
}
"""The requests with a body that change nothing, and the one of signing in."""

ALSO = {
    "POST /v2/resources/{}/deletion": {("RESOURCE", "DELETE_FORM"), ("RESOURCE", "DELETE_RESOURCE")},
    "POST /v2/process-instances/{}/undo": {
        ("PROCESS_DEFINITION", "UPDATE_PROCESS_INSTANCE"),
        ("PROCESS_DEFINITION", "SUSPEND_PROCESS_INSTANCE"),
    },
}
"""The handlers that ask for another permission, by the kind of their subject."""

KINDS = {
    "users": "USER",
    "groups": "GROUP",
    "roles": "ROLE",
    "tenants": "TENANT",
    "mapping-rules": "MAPPING_RULE",
}
LITERAL = r"\['([A-Z_]+)', '([A-Z_]+)'\]"


def text_of(name):
    """A source file without its imports and comments."""
    return re.sub(r"^import [^;]*;|^ *//.*$|/\*\*[^*]*\*/", "", (SOURCES / name).read_text(), flags=re.MULTILINE)


@cache
def constants():
    """The permissions with a name, of all files."""
    found = {}
    for path in (*SOURCES.rglob("*.ts"), *SOURCES.rglob("*.tsx")):
        for name, *need in re.findall(rf"const (\w+): Need = {LITERAL}", path.read_text()):
            assert found.setdefault(name, tuple(need)) == tuple(need) or name in ("NEED", "CHANGE"), name
    return found


@cache
def declared(name):
    """The permissions that a file names."""
    text = text_of(name)
    own = {each: tuple(need) for each, *need in re.findall(rf"const (\w+): Need = {LITERAL}", text)}
    found = {need for each, need in (constants() | own).items() if re.search(rf"\b{each}\b", text)}
    found |= set(re.findall(LITERAL, text))
    found |= set(product(KINDS.values(), re.findall(r"\[(?:kind|container)\.type, '(\w+)'\]", text)))
    of_file = re.search(r"const need = \(action: string\): Need => \['(\w+)', action\]", text)
    if of_file:
        calls = re.findall(r"need\(([^()]*)\)", text)
        found |= {(of_file[1], action) for call in calls for action in re.findall(r"'([A-Z_]+)'", call)}
    found |= {("BATCH", f"CREATE_BATCH_OPERATION_{type}") for type in re.findall(r"BATCH_OF\('(\w+)'\)", text)}
    if "needOf(props.what)" in text:
        types = re.search(r"const TYPES: .*?\{(.*?)\};", text_of("lib/batches.ts"), re.DOTALL)[1]
        found |= {("BATCH", f"CREATE_BATCH_OPERATION_{type}") for type in re.findall(r"'(\w+)'", types)}
    return found


def rows():
    """(file of the command, file of its button, route) of each route."""
    file = ""
    for line in COMMANDS.strip().splitlines():
        first, button, route = line.split(maxsplit=2)
        file = file if first == "+" else first
        if "{kind}" not in route:
            yield file, button, route
        for kind in KINDS if "{kind}" in route else ():
            yield file, button, route.replace("{kind}", kind)


def test_a_button_names_the_permission_of_its_route():
    routes = {f"{route.method} {re.sub(r'{[^}]+}', '{}', route.path)}": route for route in ROUTES}
    wrong = {}
    for file, button, place in rows():
        needs = routes[place].needs
        if button in ("-", "form"):
            assert (needs is ANY_CALLER) == (button == "-"), place
            continue
        assert isinstance(needs, Permission), place
        lacking = ({tuple(needs)} | ALSO.get(place, set())) - declared(button)
        if place.endswith("/deletion") and needs.resource == "RESOURCE":  # two pages share it
            lacking &= {tuple(needs)} if button == "pages/delete_definition.tsx" else ALSO[place]
        if lacking:
            wrong[file, button, place] = lacking
    assert wrong == {}


def test_every_command_is_in_the_table():
    """A new command needs a line there, and so a button with a permission."""
    listed = dict(READS)
    for line in COMMANDS.strip().splitlines():
        file = line.split()[0]
        if file != "+":
            listed[file] = listed.get(file, 0) + 1
    found = {}
    for path in (*SOURCES.rglob("*.ts"), *SOURCES.rglob("*.tsx")):
        name = path.relative_to(SOURCES).as_posix()
        text = text_of(name)
        ways = re.findall(r"(?<![\w.])method: [^\n]*?'(?:POST|PUT|PATCH|DELETE)'(?! \|)", text)
        if ways:
            found[name] = len(ways)
    assert found == listed


def test_the_console_asks_for_permissions_that_exist():
    """Nobody but an administrator would see the page or the button of another one."""
    texts = [path.read_text() for path in (*SOURCES.rglob("*.ts"), *SOURCES.rglob("*.tsx"))]
    needs = {need for text in texts for need in re.findall(rf"(?:Need = |need=\{{|lackOf\(){LITERAL}", text)}
    assert len(needs) > 20
    assert {need for need in needs if need[1] not in RESOURCES.get(need[0], ())} == set()
