"""Text that is no expression: where the error is, and what was expected there."""

import pytest

from vivero.core.feel import ParseError, compile_expression, compile_unary_tests


@pytest.mark.parametrize(
    ("text", "line", "column", "expected"),
    [
        ("", 1, 1, "an expression"),
        ("1 +", 1, 4, "an expression"),
        ("a b", 1, 3, "end of input or an operator"),
        ("(1", 1, 3, "')'"),
        ("[1, 2", 1, 6, "']'"),
        ("{a}", 1, 2, "a key and ':'"),
        ("{a: 1,}", 1, 7, "a key and ':'"),
        ("if a then b", 1, 12, "'else'"),
        ("if a\nthen b\nels c", 3, 1, "'else'"),
        ("for x return x", 1, 7, "'in'"),
        ("for 1 in x return x", 1, 5, "a name"),
        ("some x in y", 1, 12, "'satisfies'"),
        ("a.", 1, 3, "a name"),
        ('a = "b', 1, 5, "an expression"),
        ("x between 1 or 2", 1, 13, "'and'"),
        ("x instance number", 1, 12, "'of'"),
        ("x instance of 1", 1, 15, "a type's name"),
        ("@x", 1, 2, "a string after '@'"),
        ("function(1) x", 1, 10, "a parameter's name"),
        ("1 < 2 < 3", 1, 7, "end of input or an operator"),
        ("1 = 1 = 1", 1, 7, "end of input or an operator"),
        ("f(a: 1, 2)", 1, 9, "the name of an argument and ':'"),
        ("]1..2", 1, 6, "')', ']' or '[' at the end of a range"),
        ("1 # 2", 1, 3, "end of input or an operator"),
        ("/* open", 1, 1, "an expression"),
        ("1e99999", 1, 1, "a number with an exponent of at most 6144"),
        ("\u2028\n a %", 2, 4, "end of input or an operator"),
    ],
)
def test_errors_say_where_and_what(text, line, column, expected):
    with pytest.raises(ParseError) as caught:
        compile_expression(text)
    error = caught.value
    assert (error.line, error.column, error.expected) == (line, column, expected)
    assert str(error).startswith(f"line {line}, column {column}: expected {expected} but found ")


@pytest.mark.parametrize(
    "word",
    ["and", "or", "if", "then", "else", "for", "in", "return", "some", "every", "satisfies", "between", "instance"],
)
def test_words_of_the_language_are_no_variables(word):
    with pytest.raises(ParseError):
        compile_expression(word)


@pytest.mark.parametrize("text", ["", ",", "1,", "not(", "not(-)", "- -", "in", "> "])
def test_texts_that_are_no_unary_tests(text):
    with pytest.raises(ParseError):
        compile_unary_tests(text)


def test_external_functions_are_refused():
    with pytest.raises(ParseError, match="external functions are not supported"):
        compile_expression('function(x) external {java: {class: "java.lang.Math", method signature: "abs(int)"}}')
