"""FEEL of the DMN standard, where Camunda's FEEL gives other results. Decision models of other tools are written in it.

Entry: `DMN`.
Imports: builtins, closures, grammar, temporal.
"""

from __future__ import annotations

from types import MappingProxyType

from vivero.core.feel.closures import CAMUNDA
from vivero.core.feel.closures.scope import Dialect
from vivero.core.feel.grammar import ast
from vivero.core.feel.standard import functions, lambdas, operators, tests, values

__all__ = ["DMN"]

DMN = Dialect(
    MappingProxyType(
        {
            **CAMUNDA.rules,
            ast.Arithmetic: operators.compile_arithmetic,
            ast.Between: operators.compile_between,
            ast.Compare: operators.compile_compare,
            ast.ContextLiteral: values.compile_context,
            ast.ExternalFunction: lambdas.compile_external,
            ast.Filter: values.compile_filter,
            ast.FunctionLiteral: lambdas.compile_function,
            ast.InstanceOf: values.compile_instance_of,
            ast.Matches: tests.compile_matches,
            ast.Name: values.compile_name,
            ast.RangeLiteral: values.compile_range,
        }
    ),
    functions.FUNCTIONS,
)
"""FEEL as DMN 1.5 defines it."""
