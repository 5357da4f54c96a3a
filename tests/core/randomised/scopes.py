"""The variables of the oracle: scopes are places, each with its variables. No import from the engine."""


class Scopes:
    def __init__(self, top, variables) -> None:
        self.all = {top: dict(variables)}
        """Variables by place, in the order in which the scopes were entered; those of ended ones are gone."""
        self.tops = {top}
        """Places of processes: no variable is looked for beyond them."""
        self.shared = set()
        """Places of event sub-processes that may be there several times, or no more: without variables of their own."""

    def owner(self, name, place):
        """The innermost scope around a place that has the variable, else the process."""
        while name not in self.all.get(place, ()) and place not in self.tops:
            place = place.rpartition("/")[0]
        return place

    def value(self, name, place):
        return self.all[self.owner(name, place)][name]

    def visible(self, place):
        """All variables that are seen from a place."""
        seen = dict(self.all.get(place, {}))
        while place not in self.tops:
            place = place.rpartition("/")[0]
            seen = self.all.get(place, {}) | seen
        return seen

    def merge(self, variables, place):
        """Each goes where it is, new ones to the process."""
        for name, value in variables.items():
            self.all[self.owner(name, place)][name] = value

    def forget(self, place):
        """Everything below a place has ended."""
        for other in [other for other in self.all if other.startswith(f"{place}/")]:
            del self.all[other]
