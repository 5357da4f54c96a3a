"""Secrets are put where a model's author wrote them, and nowhere else: whatever data says, and whoever changes it."""

import json

import msgspec
import pytest

from tests.core.ad_hoc_models import decide
from tests.core.engine import Engine, raw, rebuilt
from tests.core.event_models import ad_hoc, loop, run
from tests.core.listener_models import listening
from tests.core.models import process, start, task
from tests.engine.connectors.http_calls import HTTP_TYPE
from vivero.core.bpmn.reading.secret_references import marked, unmarked
from vivero.core.feel import to_json
from vivero.core.records.instances import SetVariables
from vivero.core.shared.secret_places import HEADER
from vivero.core.shared.variables import visible
from vivero.engine.connectors.work.jobs import ConnectorJob
from vivero.engine.connectors.work.secrets import UnknownSecret, UsedSecrets

SECRETS = {"KEY": 'c"an\\ary ü', "B": "{{secrets.KEY}}", "N": "7"}
KEY = SECRETS["KEY"]


@pytest.fixture
def engine():
    return Engine()


def calling(*inputs, **more):
    return process(start(), task("call", type=HTTP_TYPE, inputs=inputs, **more), "start > call")


def connector_job(engine, id="call"):
    job = engine.job(id)
    texts = {name: msgspec.Raw(text.encode()) for name, text in visible(job.element).items()}
    variables = msgspec.Raw(msgspec.json.encode(texts))
    return ConnectorJob("1", job.type, id, "1", "<default>", 3, dict(job.headers), variables, "lease")


def inputs_of(engine):
    return dict(UsedSecrets(SECRETS).inputs(connector_job(engine)))


def one(engine, source, **variables):
    """The input `body` of the call."""
    run(engine, calling((source, "body")), **variables)
    return inputs_of(engine)["body"]


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("{{secrets.KEY}}", KEY),
        ("a {{ secrets.KEY }} b{{secrets.N}}", f"a {KEY} b7"),
        ('="Bearer {{secrets.KEY}}" + string(1)', f"Bearer {KEY}1"),
        ('={a: ["{{secrets.KEY}}", {b: "{{secrets.N}}"}], now: date("2020-01-01")}',
         {"a": [KEY, {"b": "7"}], "now": "2020-01-01"}),
        ('={"{{secrets.N}}": 1}', {"7": 1}),
        ('="{{secrets.B}}"', "{{secrets.KEY}}"),
        ('="{{secrets.KEY}}" + x', KEY + "{{secrets.KEY}}"),
        ('=x + "{{secrets.KEY}}" + x', "{{secrets.KEY}}" + KEY + "{{secrets.KEY}}"),
        ('="{{secrets.N}}{{" + y', "7{{secrets.N}}"),
        ('={a: "{{secrets.N}}", b: x, c: o}',
         {"a": "7", "b": "{{secrets.KEY}}", "c": {"{{secrets.N}}": ["{{secrets.N}}"]}}),
        ('=if x = "{{secrets.KEY}}" then x else "{{secrets.N}}"', None),
        ('=for each in [x, "{{secrets.N}}"] return each', ["{{secrets.KEY}}", "7"]),
        ('=replace(x, "K.Y", "{{secrets.N}}")', "{{secrets.7}}"),
        ("=x", "{{secrets.KEY}}"),
        ('="{{secrets." + n + "}}"', "{{secrets.KEY}}"),
        ('="{{secrets."+n+"}}"', "{{secrets.KEY}}"),
        ('="\\\\{{secrets.N}}" + z', "\\7\\u0000\\{{secrets.N}}"),
    ],
)  # fmt: skip
def test_only_what_the_author_wrote_is_replaced(engine, source, value):
    data = {"x": "{{secrets.KEY}}", "y": "secrets.N}}", "n": "KEY", "o": {"{{secrets.N}}": ["{{secrets.N}}"]}}
    data["z"] = "\\u0000\\{{secrets.N}}"
    if value is None:  # the author compares a reference with data, which has no meaning with the secret
        with pytest.raises(UnknownSecret, match="'body' is not what its mapping gave"):
            one(engine, source, **data)
    else:
        assert one(engine, source, **data) == value


def test_a_source_of_the_greatest_length_has_its_places(engine):
    text = "{{secrets.N}}" * 1500
    assert one(engine, f'="{text}"') == "7" * 1500


def test_references_outside_of_texts_are_no_places(engine):
    assert one(engine, '="a" /* {{secrets.KEY}} */ + "{{secrets.N}}" // {{secrets.NO}}') == "a7"


def test_variables_without_a_mapping_and_other_inputs_are_data(engine):
    run(engine, calling(("{{secrets.KEY}}", "authentication.token"), ("=x", "body")),
        x="{{secrets.KEY}}", queryParameters={"a": "{{secrets.KEY}}"})  # fmt: skip
    assert inputs_of(engine) == {
        "authentication": {"token": KEY},
        "body": "{{secrets.KEY}}",
        "queryParameters": {"a": "{{secrets.KEY}}"},
        "x": "{{secrets.KEY}}",
    }


def test_mappings_into_one_variable_and_onto_earlier_targets(engine):
    inputs = ("=x", "headers.a"), ("{{secrets.KEY}}", "headers.b"), ('=headers.b + "{{secrets.N}}"', "body")
    run(engine, calling(*inputs), x="{{secrets.KEY}}")
    found = inputs_of(engine)
    assert (found["headers"], found["body"]) == ({"a": "{{secrets.KEY}}", "b": KEY}, KEY + "7")


def test_a_mapping_may_read_a_secret_that_an_earlier_one_wrote(engine):
    """Also into a variable that is no input of the connector, and that it therefore does not get."""
    run(engine, calling(("{{secrets.KEY}}", "helper"), ("={a: helper, b: x}", "body"), ("=x", "url")),
        x="{{secrets.KEY}}")  # fmt: skip
    job = connector_job(engine)
    texts = msgspec.json.decode(job.variables, type=dict[str, msgspec.Raw])
    del texts["helper"]
    job = msgspec.structs.replace(job, variables=msgspec.Raw(msgspec.json.encode(texts)))
    found = UsedSecrets(SECRETS).inputs(job)
    assert (found["body"], found["url"]) == ({"a": KEY, "b": "{{secrets.KEY}}"}, "{{secrets.KEY}}")


def test_each_item_of_a_loop_has_its_places(engine):
    inner = task("call", type=HTTP_TYPE, inputs=[('=item + "{{secrets.N}}"', "body")])
    run(engine, process(start(), loop(inner, "=items", item="item"), "start > call"), items=["{{secrets.KEY}}"])
    assert inputs_of(engine)["body"] == "{{secrets.KEY}}7"


@pytest.mark.parametrize("changed", ["{{secrets.KEY}} ", "{{secrets.N}}{{secrets.KEY}}", ["{{secrets.KEY}}"], None])
def test_a_variable_that_has_changed_gets_no_secret(engine, changed):
    run(engine, calling(("{{secrets.KEY}}", "body")))
    engine.run(SetVariables(engine.job("call").element.key, raw({"body": changed}), local=True))
    with pytest.raises(UnknownSecret, match="'body' is not what its mapping gave"):
        inputs_of(engine)


def test_a_listener_cannot_put_a_reference_into_an_input(engine):
    model = listening(calling(("{{secrets.KEY}}", "body"), ("{{secrets.N}}", "url")), call=["start before"])
    run(engine, model)
    [key] = [job.key for job in engine.state.jobs.values() if job.type == "before"]
    engine.run(
        SetVariables(engine.state.jobs[key].element.key, raw({"body": "{{secrets.KEY}}{{secrets.KEY}}"}), local=True)
    )
    engine.complete("call")  # the job of the listener
    assert json.loads(engine.job("call").headers[HEADER])["body"] is None
    with pytest.raises(UnknownSecret, match="'body'"):
        inputs_of(engine)


def test_inputs_without_references_may_change(engine):
    """A listener may set them, and what their sources read changes until its job has ended, such as the time."""
    inputs = (("{{secrets.KEY}}", "body"), ("=x", "url"), ("=string(now())", "method"))
    run(engine, listening(calling(*inputs), call=["start before"]), x="old")
    [key] = [job.key for job in engine.state.jobs.values() if job.type == "before"]
    engine.run(SetVariables(engine.state.jobs[key].element.key, raw({"url": "new"}), local=True))
    engine.memory.now += 1_000
    engine.complete("call")  # the job of the listener
    found = inputs_of(engine)
    assert (found["body"], found["url"]) == (KEY, "new")


def test_jobs_of_other_types_and_without_secrets_have_no_header(engine):
    run(engine, process(start(), task("call", type="other", inputs=[("{{secrets.KEY}}", "body")]), "start > call"))
    assert engine.job("call").headers == {}
    other = Engine()
    run(other, calling(("=1", "body")))
    assert other.job("call").headers == {}


def test_only_connection_inputs_get_secrets_where_a_contract_says_so(engine):
    """A reference in a prompt stays text, also one without a secret, and a tag in data is no tag."""
    forged = "\\u00000\\u0000 {{secrets.KEY}}"
    inputs = (
        *(("{{secrets.KEY}}", "data.prompt"), ("{{secrets.N}}", "data.transport.http.url")),
        *(("=x", "data.transport.name"), ("{{secrets.NO}}", "data.transports"), ("{{secrets.KEY}}", "context")),
    )
    run(engine, calling(*inputs), x=forged)
    found = UsedSecrets(SECRETS).inputs(connector_job(engine), ("data.transport", "provider"))
    assert found["data"] == {
        "prompt": "{{secrets.KEY}}",
        "transport": {"http": {"url": "7"}, "name": forged},
        "transports": "{{secrets.NO}}",
    }
    assert found["context"] == "{{secrets.KEY}}"


@pytest.mark.parametrize("text", ["", "\\", "\\\\", 'a"{{secrets.A"B}}', "\\u0000", "\\{{secrets.A\\}}\\{{secrets.ü}}"])
def test_marks_come_back_as_the_references_they_stand_for(text):
    whole = json.loads(unmarked(to_json(["\\u0000ab\\u0000", marked(text), marked(text) + "0"]), to_json)[0])
    assert whole == ["\\u0000ab\\u0000", text, text + "0"]


def test_later_jobs_of_an_agent_have_the_places_of_the_first(engine):
    """A tool changes a variable that the connection has read. A change of the connection itself gets no secret."""
    agent = "io.camunda.agenticai:aiagent-job-worker:1"
    mapped = ('={model: model, key: "Bearer {{secrets.N}}"}', "provider")
    scope = ad_hoc("h", task("A"), job=agent, inputs=[mapped])
    run(engine, process(start(), scope, "start > h"), model="m1")
    places = engine.job("h").headers[HEADER]
    for turn in range(2):
        decide(engine, "A")
        rebuilt(engine)
        engine.complete("A", model=f"{{{{secrets.KEY}}}}{turn}")
        assert engine.job("h").headers[HEADER] == places
        provider = UsedSecrets(SECRETS).inputs(connector_job(engine, "h"), ["provider"])["provider"]
        assert provider == {"model": "m1", "key": "Bearer 7"}
    engine.set(engine.element("h").key, local=True, provider={"model": "m1", "key": "{{secrets.KEY}}"})
    with pytest.raises(UnknownSecret, match="the input 'provider' is not what its mapping gave"):
        UsedSecrets(SECRETS).inputs(connector_job(engine, "h"), ["provider"])
