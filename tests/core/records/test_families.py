"""Families of records: each module of records is known to the codec, in whatever order modules are imported."""

from importlib import import_module
from pkgutil import iter_modules

from vivero.core import records
from vivero.core.records.base import Command, Event
from vivero.core.records.codec import FAMILIES


def test_the_codec_knows_every_module_with_records():
    modules = [import_module(f"{records.__name__}.{found.name}") for found in iter_modules(records.__path__)]
    assert [module.__name__ for module in modules if has_records(module)] == [module.__name__ for module in FAMILIES]


def has_records(module):
    own = (value for value in vars(module).values() if getattr(value, "__module__", None) == module.__name__)
    return any(
        isinstance(value, type) and issubclass(value, Command | Event) and value not in (Command, Event)
        for value in own
    )
