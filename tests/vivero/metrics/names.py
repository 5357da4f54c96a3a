"""The names of metrics as Prometheus shows them."""

UNITS = {"s": "_seconds", "By": "_bytes"}


def shown(instrument):
    """Without the ending of a counter or of a part of a histogram."""
    return instrument.name.replace(".", "_") + UNITS.get(instrument.unit, "")
