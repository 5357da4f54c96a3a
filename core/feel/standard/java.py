"""The functions of Java that decisions may call: static methods without effects, rewritten here (DMN 1.5, 10.3.2.13.3).

No Java runs. A decision names a class and a signature, `java.lang.Math` and `cos(double)`. `METHODS` lists what exists.
Arguments become values of the parameters' types, and results become FEEL values, as table 47 says. A number that its
type cannot hold is no argument.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias

from vivero.core.feel.builtins.arguments import CHARACTERS_PER_STEP
from vivero.core.feel.semantics import text_of
from vivero.core.feel.standard.java_format import formatted
from vivero.core.feel.values import FunctionFailure, Run, is_number

_SIGNATURE = re.compile(r"\s*([A-Za-z_]\w*)\s*\(([^()]*)\)\s*")
_BITS: Mapping[str, int] = {"byte": 8, "short": 16, "int": 32, "long": 64}
_ALIASES = {
    "java.lang.String": "String",
    "java.lang.CharSequence": "String",
    "CharSequence": "String",
    "java.lang.Object": "Object",
    "java.math.BigDecimal": "BigDecimal",
    "[Ljava.lang.Object;": "Object[]",
    "java.lang.Object[]": "Object[]",
    "java.lang.Object...": "Object[]",
    "Object...": "Object[]",
    "java.lang.Iterable": "String[]",
    "[Ljava.lang.CharSequence;": "String[]",
    "java.lang.CharSequence...": "String[]",
}
"""Names of types → the names in `METHODS`."""
Implementation: TypeAlias = Callable[..., Any]


class UnknownMethod(ValueError):
    """The mapping names no method that is supported."""


class JavaMethod(NamedTuple):
    """A method: its name for messages, and its implementation with the types of its parameters."""

    name: str
    parameters: tuple[str, ...]
    fn: Implementation

    def __call__(self, run: Run, arguments: Sequence[Any]) -> Any:
        """The result as a FEEL value. Raises FunctionFailure, ArithmeticError or ValueError where Java throws."""
        pairs = zip(self.parameters, arguments, strict=True)
        return _result(self.fn(run, *(_converted(run, kind, value) for kind, value in pairs)))


def method_of(mapping: Any, parameters: int) -> JavaMethod:
    """The method of a mapping: `{java: {class, method signature}}` or its inside. Raises UnknownMethod."""
    inside = mapping.get("java", mapping) if type(mapping) is dict else None
    if type(inside) is not dict or "class" not in inside or "method signature" not in inside:
        raise UnknownMethod("an external function needs 'class' and 'method signature' of 'java', as constants")
    owner, signature = inside["class"], inside["method signature"]
    found = _SIGNATURE.fullmatch(signature) if type(owner) is str and type(signature) is str else None
    if found is None:
        raise UnknownMethod("'class' and 'method signature' must be texts such as 'java.lang.Math' and 'cos(double)'")
    kinds = tuple(_kind(text.strip()) for text in found[2].split(",")) if found[2].strip() else ()
    fn = METHODS.get(owner.strip(), {}).get((found[1], kinds))
    if fn is None:
        raise UnknownMethod(f"the method {owner}.{signature} is not among the supported ones (docs/decisions.md)")
    if len(kinds) != parameters:
        raise UnknownMethod(f"the function has {parameters} parameters and {owner}.{signature} has {len(kinds)}")
    return JavaMethod(f"{owner}.{found[1]}", kinds, fn)


def _kind(name: str) -> str:
    return _ALIASES.get(name, name)


# Arguments and results ------------------------------------------------------------------------------------------------


def _converted(run: Run, kind: str, value: Any) -> Any:
    convert = _CONVERSIONS[kind]
    if type(value) is list and len(value) == 1 and not kind.endswith("[]"):
        value = value[0]
    return convert(run, value)


def _whole(bits: int) -> Callable[[Run, Any], int]:
    most: int = 1 << (bits - 1)

    def whole(run: Run, value: Any) -> int:
        number = _number(run, value)
        if not -most <= number < most or number != int(number):
            raise FunctionFailure(f"{number} is no whole number of {bits} bits")
        return int(number)

    return whole


def _number(run: Run, value: Any) -> int | Decimal:
    if not is_number(value):
        raise FunctionFailure("a number is expected")
    return value  # type: ignore[no-any-return]


def _double(run: Run, value: Any) -> float:
    return float(_number(run, value))


def _float(run: Run, value: Any) -> float:
    """The nearest number of 32 bits."""
    return float(struct.unpack("<f", struct.pack("<f", _double(run, value)))[0])


def _text(run: Run, value: Any) -> str:
    if type(value) is not str:
        raise FunctionFailure("a string is expected")
    run.spend(len(value) >> 4)
    return value


def _char(run: Run, value: Any) -> str:
    if type(value) is not str or len(value) != 1:
        raise FunctionFailure("one character is expected")
    return value


def _boolean(run: Run, value: Any) -> bool:
    if type(value) is not bool:
        raise FunctionFailure("a boolean is expected")
    return value


def _objects(run: Run, value: Any) -> list[Any]:
    return value if type(value) is list else [value]


_CONVERSIONS: Mapping[str, Callable[[Run, Any], Any]] = {
    **{name: _whole(bits) for name, bits in _BITS.items()},
    "double": _double,
    "float": _float,
    "BigDecimal": lambda run, value: Decimal(_number(run, value)),
    "String": _text,
    "char": _char,
    "boolean": _boolean,
    "Object": lambda run, value: value,
    "Object[]": _objects,
    "String[]": lambda run, value: [_text(run, each) for each in _objects(run, value)],
}


def _result(value: Any) -> Any:
    """A FEEL value. There is none for what is not a number, nor for infinity."""
    if type(value) is not float:
        return value
    return Decimal(repr(value)) if math.isfinite(value) else None


# Methods --------------------------------------------------------------------------------------------------------------


def _plain(fn: Callable[..., Any]) -> Implementation:
    """A method that does not need the run."""
    return lambda run, *arguments: fn(*arguments)


def _wrapped(bits: int, fn: Callable[..., int]) -> Implementation:
    """A method whose result overflows silently, as numbers of Java do."""
    return _plain(lambda *arguments: _wrap(bits, fn(*arguments)))


def _wrap(bits: int, number: int) -> int:
    return (number + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))


def _exact(bits: int, fn: Callable[..., int]) -> Implementation:
    """A method that throws where its result overflows."""

    def exact(*arguments: int) -> int:
        result = fn(*arguments)
        if result != _wrap(bits, result):
            raise FunctionFailure("the result overflows")
        return result

    return _plain(exact)


def _round(value: float) -> int:
    """The nearest whole number, the greater of two, within 64 bits."""
    floor = math.floor(value)
    return min(max(floor + (value - floor >= 0.5), -(1 << 63)), (1 << 63) - 1)


def _rint(value: float) -> float:
    return float(round(value))


def _signum(value: float) -> float:
    return float((value > 0) - (value < 0))


def _cbrt(value: float) -> float:
    return math.copysign(round(root) if round(root := abs(value) ** (1 / 3)) ** 3 == abs(value) else root, value)


_OF_DOUBLES: Mapping[str, Callable[[float], float]] = {
    **{name: getattr(math, name) for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh")},
    **{name: getattr(math, name) for name in ("sqrt", "exp", "expm1", "log", "log10", "log1p")},
    "abs": abs,
    "cbrt": _cbrt,
    "ceil": lambda value: float(math.ceil(value)),
    "floor": lambda value: float(math.floor(value)),
    "rint": _rint,
    "signum": _signum,
    "toDegrees": math.degrees,
    "toRadians": math.radians,
}
_OF_TWO_DOUBLES: Mapping[str, Callable[[float, float], float]] = {
    "atan2": math.atan2,
    "hypot": math.hypot,
    "max": max,
    "min": min,
    "pow": math.pow,
}
_Table: TypeAlias = dict[tuple[str, tuple[str, ...]], Implementation]


def _add(a: int, b: int) -> int:
    return a + b


def _math() -> _Table:
    table: _Table = {(name, ("double",)): _plain(fn) for name, fn in _OF_DOUBLES.items()}
    table |= {(name, ("double", "double")): _plain(fn) for name, fn in _OF_TWO_DOUBLES.items()}
    table |= {("abs", ("float",)): _plain(abs), ("signum", ("float",)): _plain(_signum)}
    table |= {("round", ("double",)): _plain(_round), ("round", ("float",)): _plain(_round)}
    for name, fn in (("max", max), ("min", min)):
        table[name, ("float", "float")] = _plain(fn)
    for kind in ("int", "long"):
        bits = _BITS[kind]
        table |= {(name, (kind, kind)): _plain(fn) for name, fn in (("max", max), ("min", min))}
        table["abs", (kind,)] = _wrapped(bits, abs)
        table["negateExact", (kind,)] = _exact(bits, lambda a: -a)
        table["addExact", (kind, kind)] = _exact(bits, _add)
        table["subtractExact", (kind, kind)] = _exact(bits, lambda a, b: a - b)
        table["multiplyExact", (kind, kind)] = _exact(bits, lambda a, b: a * b)
        table["floorDiv", (kind, kind)] = _wrapped(bits, lambda a, b: a // b)
        table["floorMod", (kind, kind)] = _plain(lambda a, b: a % b)
    return table


def _based(prefix: str, bits: int) -> Implementation:
    """The digits of a number as Java writes those of its two's complement."""
    return _plain(lambda value: format(value % (1 << bits), prefix))


def _parsed(bits: int) -> Implementation:
    def parsed(text: str) -> int:
        if re.fullmatch(r"[+-]?\d{1,20}", text, re.ASCII) is None or int(text) != _wrap(bits, int(text)):
            raise FunctionFailure(f"'{text[:100]}' is no whole number of {bits} bits")
        return int(text)

    return _plain(parsed)


def _wholes(kind: str, name: str) -> _Table:
    """The methods of `Integer`, `Long`, `Short` and `Byte`."""
    bits = _BITS[kind]
    table: _Table = {("valueOf", (kind,)): _plain(lambda value: value), ("toString", (kind,)): _plain(str)}
    table |= {("valueOf", ("String",)): _parsed(bits), (f"parse{name}", ("String",)): _parsed(bits)}
    table["compare", (kind, kind)] = _plain(lambda a, b: (a > b) - (a < b) if bits > 16 else a - b)
    if bits > 16:
        table |= {("max", (kind, kind)): _plain(max), ("min", (kind, kind)): _plain(min)}
        table |= {("sum", (kind, kind)): _wrapped(bits, _add), ("signum", (kind,)): _plain(_signum_of_whole)}
        bases = (("toHexString", "x"), ("toBinaryString", "b"), ("toOctalString", "o"))
        table |= {(method, (kind,)): _based(prefix, bits) for method, prefix in bases}
    return table


def _signum_of_whole(value: int) -> int:
    return (value > 0) - (value < 0)


def _parsed_fraction(text: str) -> float:
    if re.fullmatch(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[dDfF]?\s*", text[:400], re.ASCII) is None:
        raise FunctionFailure(f"'{text[:100]}' is no number")
    return float(text.strip().rstrip("dDfF"))


def _fractions(kind: str, name: str) -> _Table:
    """The methods of `Double` and `Float`."""

    def parsed(run: Run, text: str) -> float:
        return float(_CONVERSIONS[kind](run, Decimal(_parsed_fraction(text))))

    table: _Table = {("valueOf", (kind,)): _plain(lambda value: value), ("toString", (kind,)): _plain(_fraction_text)}
    table |= {("valueOf", ("String",)): parsed, (f"parse{name}", ("String",)): parsed}
    table |= {("max", (kind, kind)): _plain(max), ("min", (kind, kind)): _plain(min)}
    table |= {("sum", (kind, kind)): _plain(lambda a, b: a + b), ("isNaN", (kind,)): _plain(math.isnan)}
    table["compare", (kind, kind)] = _plain(lambda a, b: (a > b) - (a < b))
    return table


def _fraction_text(value: float) -> str:
    """As Java writes it: `1.0`, `1.0E10`, `1.0E-5`."""
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    digits, exponent = f"{Decimal(repr(value)):E}".split("E")
    digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    return f"{digits if '.' in digits else digits + '.0'}E{int(exponent)}"


def _object_text(run: Run, value: Any) -> str:
    if value is None:
        return "null"
    return value if type(value) is str else text_of(run, value)


def _joined(run: Run, delimiter: str, texts: list[str]) -> str:
    size = sum(map(len, texts)) + len(delimiter) * len(texts)
    run.check_string(size)
    run.spend(size // CHARACTERS_PER_STEP)
    return delimiter.join(texts)


def _strings() -> _Table:
    table: _Table = {("valueOf", (kind,)): _plain(str) for kind in ("int", "long", "char")}
    table |= {("valueOf", (kind,)): _plain(_fraction_text) for kind in ("double", "float")}
    table["valueOf", ("boolean",)] = _plain(lambda value: "true" if value else "false")
    table["valueOf", ("Object",)] = _object_text
    table["format", ("String", "Object[]")] = formatted
    table["join", ("String", "String[]")] = _joined
    return table


_TRUTH: _Table = {
    ("valueOf", ("boolean",)): _plain(lambda value: value),
    ("valueOf", ("String",)): _plain(lambda text: text.lower() == "true"),
    ("parseBoolean", ("String",)): _plain(lambda text: text.lower() == "true"),
    ("toString", ("boolean",)): _plain(lambda value: "true" if value else "false"),
    ("logicalAnd", ("boolean", "boolean")): _plain(lambda a, b: a and b),
    ("logicalOr", ("boolean", "boolean")): _plain(lambda a, b: a or b),
    ("logicalXor", ("boolean", "boolean")): _plain(lambda a, b: a != b),
}
_CHARACTERS: _Table = {
    ("valueOf", ("char",)): _plain(lambda value: value),
    ("toString", ("char",)): _plain(lambda value: value),
    ("toUpperCase", ("char",)): _plain(lambda value: value.upper() if len(value.upper()) == 1 else value),
    ("toLowerCase", ("char",)): _plain(lambda value: value.lower() if len(value.lower()) == 1 else value),
    ("isDigit", ("char",)): _plain(str.isdecimal),
    ("isLetter", ("char",)): _plain(str.isalpha),
    ("isLetterOrDigit", ("char",)): _plain(lambda value: value.isalpha() or value.isdecimal()),
    ("isUpperCase", ("char",)): _plain(str.isupper),
    ("isLowerCase", ("char",)): _plain(str.islower),
}
METHODS: Mapping[str, Mapping[tuple[str, tuple[str, ...]], Implementation]] = {
    "java.lang.Math": _math(),
    "java.lang.StrictMath": _math(),
    "java.lang.Integer": _wholes("int", "Int"),
    "java.lang.Long": _wholes("long", "Long"),
    "java.lang.Short": _wholes("short", "Short"),
    "java.lang.Byte": _wholes("byte", "Byte"),
    "java.lang.Double": _fractions("double", "Double"),
    "java.lang.Float": _fractions("float", "Float"),
    "java.lang.Boolean": _TRUTH,
    "java.lang.Character": _CHARACTERS,
    "java.lang.String": _strings(),
    "java.math.BigDecimal": {
        ("valueOf", ("long",)): _plain(lambda value: value),
        ("valueOf", ("double",)): _plain(lambda value: value),
    },
}
"""Class → name and types of the parameters → implementation."""
