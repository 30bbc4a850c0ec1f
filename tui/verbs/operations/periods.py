"""Times and sizes as people type them after an option."""

from __future__ import annotations

import click

from services.agents import parse_duration, parse_size


def seconds(context: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """Turn `90d` or `1h30m` into seconds; None when the option is not given.

    Raises:
        click.BadParameter: It is no time.
    """
    if value is None:
        return None
    try:
        found = parse_duration(value)
    except ValueError:
        found = None
    if found is None:
        raise click.BadParameter(f"{value!r} is no time; write 90d, 12h or 1h30m.", context, parameter)
    return found


def count_of_bytes(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    """Turn `10g` into bytes; None when the option is not given.

    Raises:
        click.BadParameter: It is no size.
    """
    if value is None:
        return None
    try:
        return parse_size(value)
    except ValueError as error:
        raise click.BadParameter(f"{value!r} is no size; write 512m or 10g.", context, parameter) from error
