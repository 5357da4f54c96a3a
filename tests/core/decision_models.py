"""Decision models and business rule tasks for tests of the engine."""

from xml.sax.saxutils import quoteattr

from tests.core.dmn.models import NAMESPACE, decision, definitions, literal, table
from tests.core.event_models import mapped

CAMUNDA = 'xmlns:modeler="http://camunda.org/schema/modeler/1.0" modeler:executionPlatform="Camunda Cloud"'


def rule(id, decision="Price", result="price", inputs=(), outputs=(), binding=None, tag=None):
    """A business rule task that calls a decision."""
    more = "" if binding is None else f" bindingType={quoteattr(binding)}"
    more += "" if tag is None else f" versionTag={quoteattr(tag)}"
    content = f"<zeebe:calledDecision decisionId={quoteattr(decision)} resultVariable={quoteattr(result)}{more}/>"
    return f'<businessRuleTask id="{id}">{mapped(content, inputs, outputs)}</businessRuleTask>'


def file(*parts, id="shop"):
    """A file of decisions in Camunda's mode."""
    return definitions("".join(parts), NAMESPACE, attributes=CAMUNDA).replace(
        b'id="file" name="file"', f'id="{id}" name="{id}"'.encode()
    )


def prices(rate="0.1", policy="UNIQUE"):
    """`Price` requires the table `Discount`, whose rules 2 and 3 match gold customers with large totals."""
    rules = [("< 100", "-", "0"), (">= 100", '"gold"', rate), (">= 1000", '"gold"', "0.3")]
    discount = decision("Discount", table(["total", "customer"], ["rate"], rules, policy))
    return file(discount, decision("Price", literal("total * (1 - Discount)"), decisions=["Discount"]))


def one(id, text):
    """A file with one literal decision."""
    return file(decision(id, literal(text)), id=f"file-{id}")
