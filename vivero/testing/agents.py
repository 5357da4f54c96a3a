"""The AI agent of an element in a test: the calls of its model, and expectations about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vivero.testing.scripts import ModelCall, Tool


@dataclass(frozen=True, slots=True)
class AgentRun:
    """An agent of one instance, whose model has a script."""

    element: str
    calls: Sequence[ModelCall]
    """The calls of the model, the oldest first."""
    check: Callable[[bool, str], None]
    """Raises AssertionError with a text and the activity of the instance, unless something holds."""

    def expect_tools(self, *names: str) -> AgentRun:
        """The model may call exactly these tools, in the latest request."""
        __tracebackhide__ = True
        self.check(bool(self.calls), f"The model of '{self.element}' was not called.")
        offered = self.calls[-1].tools
        self.check(set(offered) == set(names), f"The tools of '{self.element}' are {', '.join(offered) or 'none'}.")
        return self

    def expect_tool_calls(self, *calls: str | Tool) -> AgentRun:
        """The model has called exactly these tools, in this order. A name stands for any arguments."""
        __tracebackhide__ = True
        made = [each for call in self.calls for each in call.called]
        pairs = zip(made, calls, strict=False)
        fits = len(made) == len(calls) and all(
            found.name == one if isinstance(one, str) else found == one for found, one in pairs
        )
        self.check(fits, f"The tool calls of '{self.element}' are {', '.join(map(str, made)) or 'none'}.")
        return self

    def expect_budget(self, calls: int | None = None, tokens: int | None = None) -> AgentRun:
        """The model was called at most so often, and its calls have at most so many tokens, by an estimate."""
        __tracebackhide__ = True
        used = sum(call.tokens for call in self.calls)
        if calls is not None:
            self.check(len(self.calls) <= calls, f"The model of '{self.element}' was called {len(self.calls)} times.")
        if tokens is not None:
            self.check(used <= tokens, f"The calls of the model of '{self.element}' have {used} tokens.")
        return self
