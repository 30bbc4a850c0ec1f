"""Every fault of a table that should be a config: msgspec stops at the first and does not name keys of maps."""

from __future__ import annotations

import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import NoneType
from typing import Any, Literal

import msgspec
from msgspec import Meta

from services.agents.aliases import nearest
from services.agents.problems import Fault, KeyPath, dotted, quoted


@dataclass(frozen=True)
class Form:
    """What a value should be: a type, and the limits its annotation adds."""

    type: Any
    limits: Meta | None

    @property
    def is_text(self) -> bool:
        """Whether it is written between quotes."""
        return typing.get_origin(self.type) is Literal or self.type is str

    @property
    def items(self) -> Form | None:
        """What each of them should be, if this is a list."""
        if typing.get_origin(self.type) is not tuple:
            return None
        return form_of(typing.get_args(self.type)[0])


def find_faults(table: Mapping[str, Any], kind: type[msgspec.Struct]) -> list[Fault]:
    """List everything about a parsed TOML table that keeps it from being a `kind`."""
    return list(_faults_of_struct(table, kind, (), kind))


def form_at(path: KeyPath, kind: type[msgspec.Struct]) -> Form | None:
    """What the value at a path should be; None when there is no such key."""
    form = Form(kind, None)
    for key in path:
        if typing.get_origin(form.type) is dict:
            form = form_of(typing.get_args(form.type)[1])
        elif isinstance(form.type, type) and issubclass(form.type, msgspec.Struct):
            annotation = typing.get_type_hints(form.type, include_extras=True).get(str(key))
            if annotation is None:
                return None
            form = form_of(annotation)
        else:
            return None
    return form


def form_of(annotation: object) -> Form:
    """Take an annotation of a field apart."""
    if typing.get_origin(annotation) not in (None, tuple, dict, Literal, typing.Annotated):
        (annotation,) = (part for part in typing.get_args(annotation) if part is not NoneType)  # X | None
    if typing.get_origin(annotation) is typing.Annotated:
        inner, *extras = typing.get_args(annotation)
        return Form(inner, next((extra for extra in extras if isinstance(extra, Meta)), None))
    return Form(annotation, None)


def _faults(value: object, annotation: object, path: KeyPath, root: type[msgspec.Struct]) -> Iterator[Fault]:
    form = form_of(annotation)
    origin = typing.get_origin(form.type)
    if origin is dict:
        yield from _faults_of_map(value, form, path, root)
    elif origin is tuple:
        yield from _faults_of_list(value, form, path, root)
    elif isinstance(form.type, type) and issubclass(form.type, msgspec.Struct):
        yield from _faults_of_struct(value, form.type, path, root)
    elif not _fits(value, annotation):
        yield _misfit(value, form, path)


def _fits(value: object, annotation: object) -> bool:
    try:
        msgspec.convert(value, annotation)
    except msgspec.ValidationError:
        return False
    return True


def _faults_of_struct(
    value: object, kind: type[msgspec.Struct], path: KeyPath, root: type[msgspec.Struct]
) -> Iterator[Fault]:
    if not isinstance(value, dict):
        yield Fault(path, f"must be a table, not {_kind_of(value)}")
        return
    annotations = typing.get_type_hints(kind, include_extras=True)
    for key, item in value.items():
        if key in kind.__struct_fields__:
            yield from _faults(item, annotations[key], (*path, key), root)
        else:
            yield Fault((*path, key), f"unknown key {quoted(key)}", _known_instead(key, kind, path, root))
    for field in msgspec.structs.fields(kind):
        if field.required and field.name not in value:
            yield Fault(path, f"the key {quoted(field.name)} is missing")


def _known_instead(key: str, kind: type[msgspec.Struct], path: KeyPath, root: type[msgspec.Struct]) -> str:
    """Name the known key an unknown one was probably meant to be: here, else elsewhere in the file, else all here."""
    known = kind.__struct_fields__
    near = nearest(key, known)
    if near:
        return f"Did you mean {quoted(near)}?"
    elsewhere = [(*table, key) for table, other in _sections(root) if key in other.__struct_fields__]
    if elsewhere:
        return f"It belongs in {_either(f'[{dotted(place[:-1])}]' for place in elsewhere if place[:-1])}."
    return f"Known here: {', '.join(known)}."


def _sections(kind: type[msgspec.Struct], path: KeyPath = ()) -> Iterator[tuple[KeyPath, type[msgspec.Struct]]]:
    for name, annotation in typing.get_type_hints(kind, include_extras=True).items():
        form = form_of(annotation)
        if isinstance(form.type, type) and issubclass(form.type, msgspec.Struct):
            yield (*path, name), form.type
            yield from _sections(form.type, (*path, name))


def _faults_of_map(value: object, form: Form, path: KeyPath, root: type[msgspec.Struct]) -> Iterator[Fault]:
    if not isinstance(value, dict):
        yield Fault(path, f"must be a table, not {_kind_of(value)}")
        return
    key_annotation, item_annotation = typing.get_args(form.type)
    for key, item in value.items():
        if _fits(key, key_annotation):
            yield from _faults(item, item_annotation, (*path, key), root)
        else:
            wanted = _wanted(form_of(key_annotation))
            yield Fault((*path, key), f"the key must be {wanted}", _near_choice(key, form_of(key_annotation)))


def _faults_of_list(value: object, form: Form, path: KeyPath, root: type[msgspec.Struct]) -> Iterator[Fault]:
    if not isinstance(value, list):
        yield Fault(path, f"must be a list, not {_kind_of(value)}")
        return
    if form.limits and len(value) < (form.limits.min_length or 0):
        yield Fault(path, "must not be an empty list")
    item_annotation, _ = typing.get_args(form.type)
    for number, item in enumerate(value):
        yield from _faults(item, item_annotation, (*path, number), root)


def _misfit(value: object, form: Form, path: KeyPath) -> Fault:
    message = f"must be {_wanted(form)}"
    if typing.get_origin(form.type) is Literal and isinstance(value, str):
        return Fault(path, f"{message}, not {quoted(value)}", _near_choice(value, form))
    if not isinstance(value, _python_type(form)):
        message += f", not {_kind_of(value)}"
    return Fault(path, message)


def _python_type(form: Form) -> type | tuple[type, ...]:
    if typing.get_origin(form.type) is Literal:
        return str
    return (int, float) if form.type is float else typing.cast("type", form.type)


def _wanted(form: Form) -> str:
    if typing.get_origin(form.type) is Literal:
        choices = [choice for choice in typing.get_args(form.type) if choice]
        return f"one of {', '.join(quoted(choice) for choice in choices)}"
    if form.limits and form.limits.title:
        examples = ", ".join(quoted(example) for example in form.limits.examples or ())
        return f"{form.limits.title}, such as {examples}" if examples else form.limits.title
    wanted = _kind_of(form.type())
    if form.limits and form.limits.gt is not None:
        wanted += f" above {form.limits.gt}"
    if form.limits and form.limits.ge is not None:
        wanted += f" from {form.limits.ge}"
    if form.limits and form.limits.le is not None:
        wanted += f" up to {form.limits.le}"
    return wanted


def _near_choice(value: str, form: Form) -> str:
    if typing.get_origin(form.type) is not Literal:
        return ""
    near = nearest(value, typing.get_args(form.type))
    return f"Did you mean {quoted(near)}?" if near else ""


def _kind_of(value: object) -> str:
    match value:
        case bool():
            return "true or false"
        case int():
            return "a whole number"
        case float():
            return "a number"
        case str():
            return "text"
        case list():
            return "a list"
        case dict():
            return "a table"
        case _:
            return "a date or time"


def _either(words: Iterable[str]) -> str:
    return " or ".join(words)
