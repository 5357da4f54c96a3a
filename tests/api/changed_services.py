"""Services of handlers with some of them replaced, whatever their groups."""

from dataclasses import fields, is_dataclass, replace


def changed(services, **changes):
    """`changed(services, pool=…)` replaces the service of this name in its group. `access` is the authenticator."""
    if "access" in changes:
        changes["authenticator"] = changes.pop("access")
    for name, value in changes.items():
        services = _with(services, name, value)
    return services


def _with(services, name, value):
    groups = {one.name: getattr(services, one.name) for one in fields(services)}
    if name in groups:
        return replace(services, **{name: value})
    (group,) = (
        group
        for group, members in groups.items()
        if is_dataclass(members) and name in {one.name for one in fields(members)}
    )
    return replace(services, **{group: replace(groups[group], **{name: value})})
