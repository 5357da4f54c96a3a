"""Decisions for people: lists, tables with the rules that matched, requirement diagrams, from a task and back.

`test_rest_of_bpmn.py` has those of each run; the others are long.
"""

import json
import re
from itertools import count
from xml.sax.saxutils import quoteattr

import pytest
from playwright.sync_api import expect

from tests.console.test_hostile_texts import ATTACK, SHOWN
from tests.core.decision_models import file, prices, rule
from tests.core.dmn.models import decision, definitions, function, inputs, literal, table
from tests.core.event_models import model
from tests.core.models import end, start

pytestmark = [pytest.mark.process, pytest.mark.long]

BOXED = """<context>
  <contextEntry><variable name="rates" typeRef="number"/><relation><column name="zone"/><column name="price"/>
    <row><literalExpression><text>"north"</text></literalExpression><literalExpression><text>7</text></literalExpression></row>
  </relation></contextEntry>
  <contextEntry><variable name="call"/><invocation><literalExpression><text>double</text></literalExpression>
    <binding><parameter name="n"/><literalExpression><text>weight</text></literalExpression></binding>
    </invocation></contextEntry>
  <contextEntry><variable name="each"/><for iteratorVariable="r">
    <in><literalExpression><text>rates</text></literalExpression></in>
    <return><literalExpression><text>r.price</text></literalExpression></return></for></contextEntry>
  <contextEntry><conditional><if><literalExpression><text>call > 10</text></literalExpression></if>
    <then><list><literalExpression><text>"heavy"</text></literalExpression></list></then>
    <else><literalExpression><text>"light"</text></literalExpression></else></conditional></contextEntry>
</context>"""
SHIPPING = (
    inputs("weight", type="number")
    + function("double", ["n"], literal("n * 2"))
    + decision("Shipping", BOXED, inputs=["weight"], knowledge=["double"])
)
DRAWN = """<dmndi:DMNDI xmlns:dmndi="https://www.omg.org/spec/DMN/20191111/DMNDI/" xmlns:dc="http://www.omg.org/spec/DMN/20180521/DC/"
  xmlns:di="http://www.omg.org/spec/DMN/20180521/DI/"><dmndi:DMNDiagram>
  <dmndi:DMNShape dmnElementRef="Top"><dc:Bounds x="400" y="100" width="150" height="60"/></dmndi:DMNShape>
  <dmndi:DMNShape dmnElementRef="size"><dc:Bounds x="430" y="300" width="90" height="40"/></dmndi:DMNShape>
  <dmndi:DMNEdge dmnElementRef="needs">
    <di:waypoint x="475" y="300"/><di:waypoint x="475" y="230"/><di:waypoint x="475" y="160"/></dmndi:DMNEdge>
</dmndi:DMNDiagram></dmndi:DMNDI>"""


TRIES = count(1)
"""The server of a module lives longer than one try of a test: a test that counts has names of its own in each."""


def evaluate(api, id, **variables):
    """The answer of an evaluation."""
    return api.post("/decision-definitions/evaluation", {"decisionDefinitionId": id, "variables": variables})


def open_instance(console, key, number):
    console.open(f"/decision-instances/{key}-{number}")


def test_a_decision_instance_shows_values_and_the_rule_that_matched(console, api, quoted):
    console.open(f"/decision-instances?instance={quoted}")
    expect(console.page.get_by_text("2 decision instances")).to_be_visible()
    console.row_to("Discount")
    console.press("Enter")
    console.settle()
    rules = console.page.get_by_role("table", name="Discount")
    expect(rules.get_by_role("columnheader", name="Customer")).to_contain_text('Value: "gold"')
    expect(rules.locator("tr.matched")).to_have_text(re.compile(r'Matched: ?3"gold">= 1000.1= 0.1'))
    expect(rules.locator("tbody tr")).to_have_count(3)
    console.check("decision_instance")
    others = console.page.get_by_role("main").get_by_role("listitem")
    expect(others).to_have_text([re.compile("Discount.*0.1"), re.compile("Price.*180")])
    others.get_by_role("link", name="Price").click()
    expect(console.page.get_by_role("heading", name="Price")).to_be_visible()
    console.tab_to("Go to the task: QUOTE-1 / find-price")
    console.press("Enter")
    expect(console.page).to_have_url(re.compile(f"/instances/{quoted}.element=find-price"))


def test_the_page_of_a_decision_has_its_graph_its_table_and_its_versions(console, api, quoted):
    api.deploy("discount.dmn", prices())
    console.open("/decisions?id=price")
    console.row_to("price")
    console.press("Enter")
    console.settle()
    graph = console.page.get_by_role("region", name="Requirement diagram")
    expect(graph.get_by_role("link")).to_have_text([re.compile("Discount"), re.compile("Price")])
    expect(graph.locator("path.edge")).to_have_count(4)
    expect(console.page.get_by_text("total * (1 - Discount)")).to_be_visible()
    console.check("decision")
    graph.get_by_role("link", name="Discount").press("Enter")
    expect(console.page.get_by_role("table", name="Discount")).to_contain_text('not("gold")')
    expect(console.page.get_by_role("columnheader", name="UNIQUE")).to_be_visible()
    console.tab_to("Decision instances")
    console.press("Enter")
    expect(console.page).to_have_url(re.compile("decision-instances.decision=discount&version=1"))


def test_a_decision_is_evaluated(console, api, quoted):
    """With the values that it needs; the answer marks the rule, and leads to the decision instance."""
    [found] = api.post("/decision-definitions/search", {"filter": {"decisionDefinitionId": "price"}})["items"]
    console.open("/decisions/price")
    console.tab_to("Evaluate …")
    console.press("Enter")
    form = console.page.get_by_role("form", name="Evaluate")
    expect(form.get_by_role("textbox")).to_have_count(3)
    for name in ("total", "customer"):
        form.get_by_label(name).fill("200")
    console.tab_to("More variables")
    console.page.keyboard.type('{"unused": [1]}')
    form.locator("summary").click()
    variables = {"unused": [1], "total": 200, "customer": "200"}
    told = f"vivero evaluate price --variables '{json.dumps(variables, separators=(',', ':'))}'"
    expect(form).to_contain_text(told)
    assert console.violations() == []
    with console.page.expect_request("**/evaluation") as sent:
        console.tab_to("Evaluate", exact=True)
        console.press("Enter")
    assert sent.value.post_data_json == {
        "decisionDefinitionKey": found["decisionDefinitionKey"],
        "variables": variables,
    }
    expect(console.page.get_by_text("Done at position")).to_be_visible()
    expect(console.page.get_by_role("group", name="Result")).to_have_text("190")
    assert console.violations() == []
    console.page.get_by_role("listitem").get_by_role("link", name="Discount").press("Enter")
    expect(console.page.locator("tr.matched")).to_contain_text("0.05")


def test_an_evaluation_that_fails_says_why(console, api):
    api.deploy("prices.dmn", prices())
    console.open("/decisions/Price?evaluate=1")
    console.page.get_by_label("total").fill("2000")
    console.page.get_by_label("customer").fill("gold")
    console.page.get_by_role("button", name="Evaluate", exact=True).click()
    main = console.page.get_by_role("main")
    expect(main.get_by_role("heading", name="Discount")).to_be_visible()
    expect(main.get_by_text("multiple values aren't allowed for UNIQUE hit policy").first).to_be_visible()
    expect(main.locator("tr.matched")).to_have_count(2)
    expect(main.get_by_role("listitem")).to_have_text([re.compile("^Discount.*Failed")])


def test_a_task_leads_to_its_evaluations(console, api, quoted):
    console.open(f"/instances/{quoted}?element=find-price")
    events = console.page.get_by_role("list", name="Events")
    decided = events.get_by_role("listitem").filter(has_text="decision evaluated")
    expect(decided).to_contain_text("Find the price · Price = 180")
    aside = console.page.get_by_role("complementary")
    expect(aside.get_by_role("heading", name="Decisions")).to_be_visible()
    assert console.violations() == []
    aside.get_by_role("link", name="Price").press("Enter")
    expect(console.page.get_by_role("heading", name="Price")).to_be_visible()
    expect(console.page.get_by_role("group", name="Result")).to_have_text("180")


def test_an_incident_of_a_decision_leads_to_the_rules(console, api):
    process = model(start(), rule("decide"), end(), "start > decide > end", id="pricing")
    api.deploy("prices.dmn", prices())
    api.deploy("pricing.bpmn", process)
    key = api.start("pricing", "PRICE-1", total=2000, customer="gold")
    console.open(f"/instances/{key}")
    failed = console.page.get_by_role("list", name="Events").get_by_role("listitem").filter(has_text="decision failed")
    expect(failed).to_contain_text("decide · Expected to evaluate decision 'Price', but decision 'Discount'")
    aside = console.page.get_by_role("complementary")
    aside.get_by_role("row").filter(has_text="Failed").get_by_role("link", name="Discount").press("Enter")
    expect(console.page.locator("tr.matched")).to_have_count(2)


@pytest.mark.parametrize(("mode", "state"), [("camunda", "FAILED"), ("dmn", "EVALUATED")])
def test_a_violated_hit_policy_shows_all_rules_that_matched(console, api, mode, state):
    rules = [("< 100", "-", "0"), (">= 100", '"gold"', "0.1"), (">= 1000", '"gold"', "0.3")]
    names = ("total", "customer")
    discount = inputs(*names) + decision("Discount", table(names, ["rate"], rules), inputs=names)
    api.deploy("prices.dmn", prices() if mode == "camunda" else definitions(discount))
    done = evaluate(api, "Discount", total=2000, customer="gold")
    assert (done["failureMessage"] is None) == (state == "EVALUATED")
    open_instance(console, done["decisionEvaluationKey"], 1)
    main = console.page.get_by_role("main")
    expect(main.get_by_text("2 matching rules violate the hit policy UNIQUE: 2, 3")).to_be_visible()
    expect(main.locator("tr.matched")).to_have_count(2)
    if state == "FAILED":
        expect(main.get_by_text("multiple values aren't allowed for UNIQUE hit policy").first).to_be_visible()
    console.go("/decision-instances?state=failed&decision=Discount")
    if state == "FAILED":
        expect(main.locator("tbody tr").filter(has_text="Failed").first).to_be_visible()
    expect(main.locator("tbody tr").filter(has_text="Evaluated")).to_have_count(0)


def test_rules_that_never_matched(console, api):
    rules, id = [("1", '"one"'), ("2", '"two"'), ("3", '"three"')], f"Never{next(TRIES)}"
    api.deploy("never.dmn", file(decision(id, table(["x"], ["y"], rules)), id=id.lower()))
    for x in (1, 3, 3, 9):
        evaluate(api, id, x=x)
    console.open(f"/decisions?id={id}")
    row = console.page.get_by_role("row").filter(has_text=id)
    expect(row.get_by_role("cell").nth(3)).to_have_text("4")
    expect(row.get_by_role("cell").nth(4)).to_have_text("0")
    console.row_to(id)
    console.press("Enter")
    expect(console.page.get_by_text("Matches in all 4 decision instances that are kept.")).to_be_visible()
    headers = console.page.locator("table.rules tbody th")
    expect(headers).to_have_text(["1×1", "2never", "3×2"])
    console.page.get_by_label("Only rules that never matched").check()
    expect(headers).to_have_text(["2never"])
    evaluate(api, id, x=2)
    expect(headers).to_have_count(0)  # the page follows the server


def test_evaluations_are_deleted(console, api):
    """A single one, after a question, and all that match a filter."""
    id = f"Gone{next(TRIES)}"
    api.deploy("gone.dmn", file(decision(id, table(["x"], ["y"], [("-", "1")])), id=id.lower()))
    keys = [evaluate(api, id, x=x)["decisionEvaluationKey"] for x in range(3)]
    open_instance(console, keys[0], 1)
    console.tab_to("Delete evaluation …")
    console.press("Enter")
    dialog = console.page.get_by_role("dialog", name="Delete evaluation")
    expect(dialog).to_contain_text("with all its decisions (1)")
    dialog.get_by_text("Copy as curl or vivero").click()
    expect(dialog).to_contain_text(f"vivero delete-evaluations {keys[0]}")
    assert console.violations() == []
    dialog.get_by_role("button", name="Delete evaluation").click()
    expect(console.page).to_have_url(re.compile("decision-instances$"))
    console.open(f"/decision-instances?decision={id}")
    expect(console.page.get_by_text("2 decision instances")).to_be_visible()
    console.page.get_by_role("button", name="Delete all 2 …").click()
    dialog = console.page.get_by_role("dialog", name="Delete all 2")
    dialog.get_by_text("Copy as curl or vivero").click()
    expect(dialog).to_contain_text(f"""delete-evaluations --all --filter '{{"decisionDefinitionId":"{id}"}}'""")
    expect(dialog.get_by_role("button", name="Forecast")).to_have_count(0)
    assert console.violations() == []
    dialog.get_by_role("button", name="Delete all 2").click()
    expect(console.page.get_by_role("heading", name="Delete decision instances Completed")).to_be_visible()
    console.check("deleted_decisions")
    found = api.post("/decision-instances/search", {"filter": {"decisionDefinitionId": id}})
    assert found["page"]["totalItems"] == 0


def test_two_versions_are_compared(console, api):
    """A rule in front shifts the ids of all others, which are numbers of places. Two go, and two change places."""

    def deploy(*rules, policy="FIRST", id="compared"):
        api.deploy("compared.dmn", file(decision("Compared", table(["x"], ["y"], rules, policy)), id=id))

    deploy(*((str(n), f'"{n}"') for n in range(1, 151)), policy="UNIQUE")
    kept = [(str(n), f'"{n}"') for n in range(1, 151) if n not in (7, 20)]
    kept[9], kept[10] = kept[10], kept[9]  # 11 and 12
    kept[100] = (kept[100][0], '"other"')
    deploy(("0", '"zero"'), *kept)
    console.open("/decisions/Compared")
    console.page.get_by_label("Compare with").select_option("1")
    expect(console.page).to_have_url(re.compile("with=1"))
    main = console.page.get_by_role("main")
    expect(main.get_by_role("status")).to_have_text("added: 1 · removed: 2 · changed: 1 · moved: 1")
    rows = main.locator("table.rules tbody tr")
    expect(rows).to_have_count(5)
    expect(main.locator("tr.added")).to_contain_text('"zero"')
    expect(main.get_by_role("columnheader").first).to_contain_text("UNIQUE")
    expect(main.get_by_role("columnheader").first).to_contain_text("FIRST")
    assert console.violations() == []
    main.get_by_label("Only rules that differ").uncheck()
    expect(rows).to_have_count(100)
    deploy(("0", '"zero"'), *kept, id="compared-too")
    console.open("/decisions/Compared?with=2")
    expect(main.get_by_text("The logic is the same in both versions.")).to_be_visible()
    console.page.route("**/xml", lambda _: None)
    console.page.goto(f"{console.address}/console/decisions/Compared?with=1")
    expect(console.page.get_by_label("Compare with")).to_be_visible()
    expect(main.get_by_text("Loading")).to_be_visible()  # and not that the file is deleted
    expect(main.get_by_text("deleted")).to_have_count(0)


def test_columns_are_paired_by_what_they_ask_and_not_by_their_place(console, api):
    """A column in front shifts all others, which have no ids."""

    def deploy(names, *rules):
        api.deploy("columns.dmn", file(decision("Columns", table(names, ["y"], rules)), id="columns"))

    deploy(["size", "weight"], ("1", "2", '"a"'), ("3", "4", '"b"'))
    deploy(["zone", "size", "weight"], ("-", "1", "2", '"a"'), ("-", "3", "5", '"b"'))
    console.open("/decisions/Columns?with=1")
    main = console.page.get_by_role("main")
    expect(main.get_by_role("status")).to_have_text("added: 0 · removed: 0 · changed: 1 · moved: 0")
    heads = main.get_by_role("columnheader")
    expect(heads.locator("ins")).to_have_text([re.compile("zone")])
    expect(heads.locator("del")).to_have_count(0)
    expect(main.locator("tbody del")).to_have_text(["4"])
    expect(main.locator("tbody ins")).to_have_text(["5"])


def test_boxed_expressions_can_be_read(console, api):
    api.deploy("shipping.dmn", definitions(SHIPPING))
    console.open("/decisions/Shipping")
    rows = console.page.get_by_role("row")
    for name, text in (("rates", "7"), ("call", "weight"), ("each", "r.price"), ("then", '"heavy"'), ("n", "weight")):
        header = console.page.get_by_role("rowheader", name=re.compile(rf"^{name}\b"))
        expect(rows.filter(has=header).last).to_contain_text(text)
    assert console.violations() == []
    console.page.get_by_role("link", name="Business knowledge model double").press("Enter")
    expect(console.page.get_by_role("table", name="double")).to_contain_text("function(n)")


def test_the_diagram_of_a_file_is_drawn_as_it_says(console, api):
    top = decision("Top", literal("size"), inputs=["size"]).replace(
        "<informationRequirement", '<informationRequirement id="needs"'
    )
    api.deploy("drawn.dmn", definitions(inputs("size") + top + DRAWN))
    console.open("/decisions/Top")
    expect(console.page.locator(".graph path.edge")).to_have_attribute("d", "M75 200L75 130L75 60")
    place = console.page.get_by_role("link", name="Decision Top").evaluate(
        "e => [e.offsetLeft, e.offsetTop, e.offsetWidth]"
    )
    assert place == [12, 12, 150]


@pytest.mark.parametrize("bounds", ['x="1e308"', 'x="NaN"', 'x="-1e9"'])
def test_a_diagram_with_impossible_places_is_laid_out_anew(console, api, bounds):
    top = decision("Top", literal("size"), inputs=["size"])
    api.deploy("drawn.dmn", definitions(inputs("size") + top + DRAWN.replace('x="400"', bounds)))
    console.open("/decisions/Top")
    expect(console.page.locator(".graph path.edge")).to_have_count(1)
    assert console.page.locator(".graph svg").bounding_box()["width"] < 300


def test_a_table_of_thousands_of_rules_is_shown_page_by_page(console, api):
    rules = [(f"{n}", '"any"', f"{n * 2}") for n in range(1, 10_001)]
    api.deploy("large.dmn", file(decision("Large", table(["total", "customer"], ["rate"], rules)), id="large"))
    done = evaluate(api, "Large", total=7777, customer="any")
    console.open("/decisions/Large")
    expect(console.page.locator("table.rules tbody tr")).to_have_count(100)
    expect(console.page.get_by_text("1 to 100 of 10,000")).to_be_visible()
    console.page.get_by_role("button", name="Next").click()
    expect(console.page.get_by_role("rowheader", name="101")).to_be_visible()
    open_instance(console, done["decisionEvaluationKey"], 1)
    expect(console.page.locator("table.rules tbody tr")).to_have_text([re.compile("7777.*15554= 15554")])
    console.page.get_by_label("Only rules that matched").uncheck()
    expect(console.page.locator("table.rules tbody tr")).to_have_count(100)


def test_what_decisions_say_is_never_code(console, api):
    """Names, cells, labels and values."""
    name = json.dumps(ATTACK)
    hostile = decision("hostile-decision", table(["x"], ["y"], [("-", name)])).replace(
        'name="hostile-decision"',
        f"name={quoteattr(ATTACK)}",
    )
    api.deploy("hostile.dmn", file(hostile, id="hostile-file"))
    done = evaluate(api, "hostile-decision", x=ATTACK)
    console.open("/about")
    for path in (
        "/decisions",
        "/decisions/hostile-decision",
        "/decision-instances",
        f"/decision-instances/{done['decisionEvaluationKey']}-1",
    ):
        console.go(path)
        expect(console.page.get_by_text(SHOWN).first).to_be_attached()
    assert console.page.evaluate("document.querySelectorAll('img[src=x]').length") == 0


def test_lists_of_decisions_are_accessible(console, api, quoted):
    for path in ("/decisions", "/decision-instances"):
        console.open(path)
        console.check("decisions")


def test_a_decision_instance_that_is_not_there_leads_to_the_list(console, api):
    console.expected = "status of 4"
    for key in ("1-1", "nonsense"):
        console.open(f"/decision-instances/{key}")
        expect(console.page.get_by_role("main").get_by_role("link", name="Decision instances")).to_be_visible()
