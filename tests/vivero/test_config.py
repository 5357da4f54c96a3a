"""Settings: where they come from, which one counts, and what is said about wrong ones."""

import json
from collections import Counter
from pathlib import Path

import pytest

from vivero.config import sections, sources
from vivero.config.roles import Role
from vivero.config.sections import Config, ConfigError
from vivero.config.settings_lines import lines_of
from vivero.config.sources import load
from vivero.engine.jobs.type_settings import JobTypeSettings
from vivero.storage.state.task_listeners import GlobalTaskListener


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "vivero.toml"
        path.write_text(text)
        return path

    return write


def test_defaults():
    assert load(environment={}) == Config()
    assert load(environment={}).api.port == 8080


def test_file_then_environment_then_flags(file):
    path = file('log_format = "json"\n[api]\nport = 1\nmax_jobs = 2\nhost = "::"\n')
    chosen = load(
        path, {"VIVERO_API_MAX_JOBS": "3", "VIVERO_API_HOST": "a"}, {"api.host": "b", "api.max_nesting": None}
    )
    assert (chosen.api.port, chosen.api.max_jobs, chosen.api.host, chosen.log_format) == (1, 3, "b", "json")
    assert chosen.api.max_nesting == Config().api.max_nesting


def test_short_names():
    chosen = load(environment={"VIVERO_DATABASE_URL": "u", "VIVERO_DATA_DIR": "d"})
    assert (chosen.database.url, chosen.database.data_dir) == ("u", Path("d"))


def test_a_directory_on_the_command_line_beats_a_url_of_the_environment():
    chosen = load(
        environment={"VIVERO_DATABASE_URL": "u"}, flags={"database.data_dir": Path("d"), "database.url": None}
    )
    assert (chosen.database.url, chosen.database.data_dir) == (None, Path("d"))


@pytest.mark.parametrize(
    ("cores", "partitions", "division"),
    [
        (1, 1, (1, 0)),
        (2, 9, (1, 0)),
        (3, 1, (2, 1)),
        (4, 1, (3, 1)),
        (64, 1, (3, 1)),
        (8, 2, (6, 2)),
        (11, 9, (6, 2)),
        (9_999, 1_024, (255, 85)),
    ],
)
def test_processes_are_chosen_by_cores(monkeypatch, cores, partitions, division):
    monkeypatch.setattr(sources, "processors", lambda: cores)
    chosen = load(environment={"VIVERO_PROCESSES": "0", "VIVERO_PARTITIONS": str(partitions)})
    assert (chosen.processes, chosen.engine_processes) == division
    roles = Counter(each.roles for each in chosen.of_each_process)
    processes, engines = division
    assert roles == ({"engine": engines, "api,jobs,web": processes - engines} if engines else {chosen.roles: 1})
    jobs_only = load(environment={"VIVERO_PROCESSES": "0", "VIVERO_ROLES": "engine,jobs"})
    assert [each.roles for each in jobs_only.of_each_process] == ["engine,jobs"]


@pytest.mark.parametrize(
    ("processes", "engines", "roles", "why"),
    [
        ("2", "2", "engine,api", "engine_processes = 2 of processes = 2 leaves no process that serves clients"),
        ("1", "1", "engine,api", "engine_processes = 1 of processes = 1 leaves no"),
        ("0", "1", "engine,api", "so engine_processes must not be set"),
        ("2", "1", "engine,jobs", "roles must name engine and one of them"),
        ("2", "1", "api,web", "roles must name engine and one of them"),
        ("2", "-1", "engine,api", "it must be from 0 to 256"),
        ("257", "1", "engine,api", "it must be from 0 to 256"),
    ],
)
def test_a_division_without_a_process_for_each_side_is_refused(processes, engines, roles, why):
    flags = {"processes": processes, "engine_processes": engines, "roles": roles}
    with pytest.raises(ConfigError, match=why):
        load(environment={f"VIVERO_{name.upper()}": value for name, value in flags.items()})


def test_an_empty_variable_is_none():
    assert load(environment={"VIVERO_DATABASE_URL": "", "VIVERO_API_PORT": ""}) == Config()


def test_roles_are_all_unless_some_are_named():
    assert all(Config().has_role(role) for role in Role)
    chosen = load(environment={"VIVERO_ROLES": " api, jobs"})
    assert {role for role in Role if chosen.has_role(role)} == {Role.API, Role.JOBS}


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ("api,enigne", "'enigne' is not a role; the roles are api, engine, jobs, web"),
        (" , ", "a node needs at least one role; the roles are api, engine, jobs, web"),
    ],
)
def test_a_role_that_does_not_exist(given, complaint):
    with pytest.raises(ConfigError, match=rf"setting 'roles' \(the command line\) cannot be .*: {complaint}"):
        load(environment={}, flags={"roles": given})


SPELLED = {
    "roles": "api,web",
    "log_levels": "vivero.api=debug",
    "documents.directory": "/x",
    "documents.bucket": "s3://bkt",
}


TOGETHER = (
    ("documents.bucket", "s3://bkt", "documents.store", "s3"),
    ("documents.s3_access_key", "key", "documents.s3_secret", "secret"),
    ("documents.directory", "/documents", "documents.store", "directory"),
    ("retention.archive_access_key", "key", "retention.archive_secret", "secret"),
    ("retention.archive", "s3://bkt", "retention.archive_region", "eu"),
    ("tls.certificate", "/certificate", "tls.key", "/key"),
)
"""Settings that belong together: the value of each."""
BESIDE = {
    "documents.s3_access_key": {"documents.bucket": "s3://bkt"},
    "retention.archive_access_key": {"retention.archive": "s3://bkt"},
}
"""The settings that each of them needs beside it."""
SOURCES = ("file", "environment", "flags")


@pytest.mark.parametrize("first", SOURCES)
@pytest.mark.parametrize("second", SOURCES)
@pytest.mark.parametrize("together", TOGETHER, ids=lambda one: f"{one[0]}, {one[2]}")
def test_settings_that_belong_together_come_from_any_sources(file, together, first, second):
    (name, value, other, other_value), given = together, {source: {} for source in SOURCES}
    given[first][name] = value
    given[second][other] = other_value
    lines = [f"{key} = {json.dumps(text)}" for key, text in (given["file"] | BESIDE.get(name, {})).items()]
    environment = {"VIVERO_" + key.replace(".", "_").upper(): text for key, text in given["environment"].items()}
    loaded = load(file("\n".join(lines)), environment, given["flags"])
    found = [str(getattr(getattr(loaded, section), item)) for section, item in (name.split("."), other.split("."))]
    assert found == [value, other_value]


@pytest.mark.parametrize(
    ("section", "bucket", "prefix"), [("documents", "bucket", "s3"), ("retention", "archive", "archive")]
)
def test_half_of_the_credentials_of_a_bucket_is_refused_by_its_place(file, section, bucket, prefix):
    path = file(f'[{section}]\n{bucket} = "s3://bkt"\n{prefix}_access_key = "key"')
    why = rf"setting '{section}.{prefix}_access_key' \(.*line 3\) cannot be 'key': .*belong together"
    with pytest.raises(ConfigError, match=why):
        load(path, {})


def test_a_wrong_value_is_refused_also_if_another_source_overrides_it(file):
    with pytest.raises(ConfigError, match=r"'api.port' \(.*line 2\) cannot be 'x'"):
        load(file('[api]\nport = "x"'), {"VIVERO_API_PORT": "8080"})


def test_every_setting_can_be_set_in_the_environment():
    for name in sections.names():
        section, _, item = name.rpartition(".")
        value = getattr(getattr(Config(), section) if section else Config(), item)
        spelled = ("9" if name.endswith("port") else "x") if value is None else str(value)
        if name == "http.max_in_flight":
            spelled = "5"
        spelled = SPELLED.get(name, spelled)
        loaded = load(environment={"VIVERO_" + name.replace(".", "_").upper(): spelled})
        found = getattr(getattr(loaded, section) if section else loaded, item)
        assert str(found) == spelled, name


@pytest.mark.parametrize(("text", "value"), [("on", True), ("TRUE", True), ("1", True), ("no", False), ("off", False)])
def test_truths(text, value):
    assert load(environment={"VIVERO_CHAOS": text}).chaos is value


def test_a_whole_number_is_taken_for_seconds(file):
    assert load(file("drain_s = 3"), {}).drain_s == 3.0


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[api]\nprot = 1", "there is no setting 'api.prot'"),
        ("prot = 1", "there is no setting 'prot'"),
        ('[api]\nport = "x"', "setting 'api.port'"),
        ("[api]\nport = true", "setting 'api.port'"),
        ("[api]\nhost = 5", "setting 'api.host'"),
        ("chaos = 3", "setting 'chaos'"),
        ('log_format = "xml"', "setting 'log_format'.*console, json"),
        ('log_level = "loud"', "setting 'log_level'.*debug, info, warning, error"),
        ("[http]\nmax_connections = 0", "setting 'http.max_connections'.*greater than 0"),
        ("[api", "is not valid TOML"),
        ("\ufeff[api]\nport = true", "line 2"),
    ],
)
def test_what_cannot_be_is_named_with_its_place(file, text, complaint):
    path = file(text)
    with pytest.raises(ConfigError, match=complaint) as caught:
        load(path, {})
    assert str(path) in str(caught.value)


def test_what_cannot_be_in_the_environment_is_named():
    with pytest.raises(ConfigError, match=r"setting 'api.port' \(the environment\) cannot be 'x'"):
        load(environment={"VIVERO_API_PORT": "x"})


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ConfigError, match="there is no file"):
        load(tmp_path / "nothing.toml", {})


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("VIVERO_PORT", "VIVERO_API_PORT"),
        ("VIVERO_HOST", "VIVERO_API_HOST"),
        ("VIVERO_DATABASE_URI", "VIVERO_DATABASE_URL"),
        ("VIVERO_DATADIR", "VIVERO_DATA_DIR"),
        ("VIVERO_LOGLEVEL", "VIVERO_LOG_LEVEL"),
        ("VIVERO_API_PORT", None),
        ("VIVERO_DATABASE_URL", None),
        ("VIVERO_ADDRESS", None),
        ("VIVERO_CONFIG", None),
        ("VIVERO_PORT_8080_TCP_PROTO", None),
        ("VIVERO_ORACLE_SEED", None),
        ("PORT", None),
    ],
)
def test_a_misspelt_variable_is_noticed(name, meant):
    assert sources.misspelt({name: "1"}) == ({} if meant is None else {name: meant})


def test_a_misspelt_setting_of_the_file_is_named_with_what_was_meant(file):
    with pytest.raises(ConfigError, match=r"there is no setting 'api.prot' .*: did you mean 'api.port'\?"):
        load(file("[api]\nprot = 1\n"), {})


def test_settings_of_a_section_change_together():
    """The shorter threshold is right only with the shorter interval."""
    both = {"VIVERO_JOBS_STALE_THRESHOLD": "PT2S", "VIVERO_JOBS_KEEP_ALIVE_INTERVAL": "PT1S"}
    assert load(environment=both).jobs.stale_s == 2
    with pytest.raises(ConfigError, match=r"jobs\.stale_threshold.*must not be shorter"):
        load(environment={"VIVERO_JOBS_STALE_THRESHOLD": "PT2S"})
    with pytest.raises(ConfigError, match=r"jobs\.drain.*'soon' is not an ISO 8601 duration"):
        load(environment={**both, "VIVERO_JOBS_DRAIN": "soon"})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("# a comment\n\n[api]\nprot = 1", r"there is no setting 'api.prot' \(file .*, line 4\)"),
        ("[api]\nport = 'x'", r"'api.port' \(file .*, line 2\)"),
        (
            "[jobs.types.mail]\nmax_atempts = 1",
            r"'jobs.types.mail.max_atempts' \(file .*, line 2\): did you mean 'max_a",
        ),
        (
            "jobs.types.mail.timeout = 'soon'",
            r"'jobs.types.mail.timeout' \(file .*, line 1\).*not an ISO 8601 duration",
        ),
        ('[jobs.types."a b"]\ncron = "61 * * * *"', r"""'jobs.types."a b".cron' \(file .*, line 2\).*minute"""),
        (
            "[jobs]\nmax_concurrent = 2\n[jobs.types.mail]\nmin_concurrent = 3",
            r"'jobs.max_concurrent' \(file .*line 2.*'mail': min_c",
        ),
        ("[jobs.types.mail]\nmax_attempts = '3 times'", r"'jobs.types.mail.max_attempts' \(file .*, line 2\)"),
        ("[jobs]\ntypes = 1", r"'jobs.types' \(file .*, line 2\).*a table for each type"),
        ("[user_tasks]\nlisteners = 1", r"'user_tasks.listeners' \(file .*, line 2\).*a table for each task listener"),
        (
            "[user_tasks.listeners.audit]\ntype = 'a'\nevent_type = ['all']",
            r"'user_tasks.listeners.audit.event_type' \(file .*, line 3\): did you mean 'event_types'",
        ),
        (
            "\n[user_tasks.listeners.audit]\nevent_types = ['all']",
            r"'user_tasks.listeners.audit' \(file .*, line 2\) needs 'type'",
        ),
        (
            "[user_tasks.listeners.audit]\ntype = 'a'\nevent_types = []",
            r"'user_tasks.listeners.audit' \(file .*, line 1\) needs 'event_types'",
        ),
        (
            "[user_tasks.listeners.audit]\ntype = 'a'\nevent_types = ['done']",
            r"'user_tasks.listeners.audit.event_types' \(file .*, line 3\).*'done' is not an event.*completing",
        ),
        (
            "[user_tasks.listeners.audit]\ntype = 'a'\nevent_types = 'all'",
            r"'user_tasks.listeners.audit.event_types' \(file .*, line 3\).*a list of texts",
        ),
        (
            "[user_tasks.listeners.audit]\ntype = 'a'\nevent_types = ['all']\nretries = 0",
            r"'user_tasks.listeners.audit.retries' \(file .*, line 4\).*from 1 to",
        ),
        (
            "[user_tasks.listeners.'a b']\ntype = 'a'\nevent_types = ['all']",
            r"'user_tasks.listeners' \(file .*, line 1\).*the id 'a b' must have",
        ),
    ],
)
def test_the_line_of_a_wrong_setting_is_told(file, text, reason):
    with pytest.raises(ConfigError, match=reason):
        load(file(text), {})


def test_settings_of_single_types_of_jobs(file):
    loaded = load(file('[jobs.types."vivero.x"]\nevery = "PT1H"\npaused = true\n'), {}).jobs.types
    assert loaded == {"vivero.x": JobTypeSettings(every="PT1H", paused=True)}
    assert loaded["vivero.x"].origin.startswith('jobs.types."vivero.x" (file ')
    assert loaded["vivero.x"].origin.endswith("line 1)")
    found = load(environment={"VIVERO_JOBS_TYPES": '{"mail": {"max_in_cluster": 2}}'})
    assert found.jobs.types == {"mail": JobTypeSettings(max_in_cluster=2)}


def test_task_listeners_of_the_cluster(file):
    text = "[user_tasks.listeners.audit]\ntype = 'a'\nevent_types = ['completing', 'ALL']\n"
    [found] = load(file(text), {}).user_tasks.all_listeners()
    assert found == GlobalTaskListener("audit", "a", 3, 50, False, ["all"])
    given = {"b": {"type": "t", "event_types": ["updating"], "priority": -1, "after_non_global": True, "retries": 1}}
    [found] = load(environment={"VIVERO_USER_TASKS_LISTENERS": json.dumps(given)}).user_tasks.all_listeners()
    assert found == GlobalTaskListener("b", "t", 1, -1, True, ["updating"])


def test_lines_of_settings():
    text = 'a = 1\n[b]\n  c.d = """\nx = 1\n"""\n[b."e f"] # g\nh = 2\nh = 3 = 4\n'
    assert lines_of(text) == {"a": 1, "b": 2, "b.c.d": 3, "b.x": 4, 'b."e f"': 6, 'b."e f".h': 7}


def test_a_variable_may_name_a_file_with_the_value(tmp_path):
    secret = tmp_path / "password"
    secret.write_text("of the file\n")
    given = {"VIVERO_AUTH_ADMIN_PASSWORD_FILE": str(secret)}
    assert load(environment=given).auth.admin_password == "of the file"
    assert sources.misspelt(given) == {}
    assert load(environment={"VIVERO_DATABASE_URL_FILE": str(secret)}).database.url == "of the file"


def test_a_file_of_a_value_that_is_missing_or_one_too_many_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"VIVERO_DATABASE_URL_FILE: there is no file .*nowhere"):
        load(environment={"VIVERO_DATABASE_URL_FILE": str(tmp_path / "nowhere")})
    both = {"VIVERO_API_PORT": "1", "VIVERO_API_PORT_FILE": str(tmp_path)}
    with pytest.raises(ConfigError, match="VIVERO_API_PORT_FILE and VIVERO_API_PORT are both set"):
        load(environment=both)
    assert sources.misspelt({"VIVERO_API_PORTS_FILE": "x"}) == {"VIVERO_API_PORTS_FILE": "VIVERO_API_PORT_FILE"}
