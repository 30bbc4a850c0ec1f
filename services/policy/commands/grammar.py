"""A shell line taken apart by the shell's own grammar into the simple commands it would run.

Only forms whose meaning is certain before the line runs are taken; everything else is a problem that denies the line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MAX_LINE = 10_000
"""Characters; Claude Code misjudged longer lines, so they are refused."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word after quotes and escapes are taken off.

    Attributes:
        text: What the program would get.
        pattern: Whether an unquoted `*`, `?` or `[` lets it stand for other names.
    """

    text: str
    pattern: bool = False


@dataclass(frozen=True, slots=True)
class Redirect:
    """One redirection.

    Attributes:
        operator: `>`, `>>`, `<`, `>&`, …
        target: The file, or "" where only descriptors are joined or closed.
    """

    operator: str
    target: str

    @property
    def writes(self) -> bool:
        """Whether it may change its target."""
        return ">" in self.operator


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """One program that the line would run.

    Attributes:
        assignments: Names of variables set only for it.
        words: The program and its arguments; empty for a bare assignment or redirection.
        redirects: In the order written.
        piped: Whether its standard input is another command's output.
        text: As written, for people.
    """

    assignments: tuple[str, ...]
    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...]
    piped: bool
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """A shell line.

    Attributes:
        commands: Every simple command, in the order written, wherever it is nested.
        problem: Why the line cannot be judged with certainty; "" when it can.
    """

    commands: tuple[SimpleCommand, ...]
    problem: str = ""


_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff\x00-\x08\x0b-\x1f\x7f-\x9f]"
)
_CONTAINERS = frozenset(
    {"program", "list", "pipeline", "subshell", "compound_statement", "negated_command", "if_statement", "elif_clause"}
    | {"else_clause", "while_statement", "do_group"}
)
_REFUSED = {
    "command_substitution": "it runs a command to build its own text",
    "process_substitution": "it runs a command to build its own text",
    "simple_expansion": "it uses a variable, whose value is not known here",
    "expansion": "it uses a variable, whose value is not known here",
    "arithmetic_expansion": "it computes a part of itself",
    "ansi_c_string": "it holds a $'…' string, which can hide what it says",
    "translated_string": 'it holds a $"…" string, which can hide what it says',
    "brace_expression": "it uses brace expansion",
    "function_definition": "it defines a function, which can take another command's name",
    "declaration_command": "it declares variables",
    "unset_command": "it removes variables",
    "for_statement": "it loops over a variable",
    "c_style_for_statement": "it loops over a variable",
    "case_statement": "it branches on a value that is not known here",
    "test_command": "it tests a condition that is not judged",
    "variable_assignments": "it only sets variables",
}
_SPLIT_WORD = re.compile(r"\S\\\n\S")
_SPECIAL = re.compile(r"[\\*?\[{]")
_BRACES = re.compile(r"\{[^{}]*(,|\.\.)[^{}]*\}")


@lru_cache(maxsize=1024)
def parse(line: str) -> Line:
    """Take a line apart; agents repeat themselves, so the last thousand answers are kept.

    Args:
        line: What would be handed to `sh -c` or `bash -c`.
    """
    if len(line) > MAX_LINE:
        return Line((), f"it is longer than {MAX_LINE:,} characters")
    hidden = _INVISIBLE.search(line)
    if hidden:
        return Line((), f"it holds the invisible character U+{ord(hidden.group()):04X}")
    if "`" in line:
        return Line((), "it holds a backtick, which runs a command to build its own text")
    if _SPLIT_WORD.search(line):
        return Line((), "it continues a word on the next line, which the grammar reads differently than the shell")
    try:
        source = line.encode()
    except UnicodeEncodeError:
        return Line((), "it holds bytes that are no text")
    tree = _parser().parse(source)
    if tree.root_node.has_error:
        source = _with_heredocs_ended(line, tree.root_node)
        tree = _parser().parse(source)
        if tree.root_node.has_error:
            return Line((), "the shell's grammar does not explain all of it")
    reader = _Reader(source)
    reader.statement(tree.root_node, piped=False)
    return Line(tuple(reader.commands), reader.problem)


@lru_cache(maxsize=1)
def _parser() -> Parser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


_HEREDOC_START = re.compile(r"<<(-?)[ \t]*(?:'([^'\n]+)'|\"([^\"\n]+)\"|\\?([^\s'\"<>|;&()\\]+))")


def _with_heredocs_ended(line: str, root: Node) -> bytes:
    """Close here-documents the line leaves open, as the shell does at the end of its input."""
    if not _contains(root, "heredoc_start"):
        return line.encode()
    ends = [next(group for group in found.groups()[1:] if group) for found in _HEREDOC_START.finditer(line)]
    present = {text.strip() for text in line.split("\n")[1:]}
    missing = [end for end in ends if end not in present]
    return "\n".join([line.rstrip("\n"), *missing, ""]).encode()


def _contains(node: Node, kind: str) -> bool:
    return node.type == kind or any(_contains(child, kind) for child in node.children)


class _Reader:
    """Walks a syntax tree and collects simple commands; keeps the first problem met."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.commands: list[SimpleCommand] = []
        self.problem = ""

    def refuse(self, problem: str) -> None:
        self.problem = self.problem or problem

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def statement(self, node: Node, *, piped: bool, redirects: tuple[Redirect, ...] = ()) -> None:
        kind = node.type
        if kind == "command":
            self.command(node, piped=piped, redirects=redirects)
        elif kind == "redirected_statement":
            self.redirected(node, piped=piped, outer=redirects)
        elif kind == "variable_assignment":
            self.refuse("it only sets variables")
        elif kind == "comment":
            return
        elif kind in _CONTAINERS:
            self.container(node, piped=piped, redirects=redirects)
        else:
            self.refuse(_REFUSED.get(kind, f"it uses a form that is not judged ({kind.replace('_', ' ')})"))

    def container(self, node: Node, *, piped: bool, redirects: tuple[Redirect, ...]) -> None:
        first = True
        for child in node.children:
            if child.type == "&":
                self.refuse("it sends a command to the background")
            elif child.is_named:
                follows = node.type == "pipeline" and not first
                self.statement(child, piped=piped or follows, redirects=redirects)
                first = False

    def redirected(self, node: Node, *, piped: bool, outer: tuple[Redirect, ...]) -> None:
        redirects = outer
        body: Node | None = None
        for child in node.children:
            if child.type == "file_redirect":
                redirects += self.file_redirect(child)
            elif child.type == "herestring_redirect":
                for word in child.named_children:
                    self.word(word)
            elif child.type == "heredoc_redirect":
                redirects += self.heredoc(child, piped=piped)
            elif child.is_named:
                body = child
        if body is None:
            self.commands.append(SimpleCommand((), (), redirects, piped, self.text(node)))
        else:
            self.statement(body, piped=piped, redirects=redirects)

    def heredoc(self, node: Node, *, piped: bool) -> tuple[Redirect, ...]:
        """A here-document's text is data; what follows its start on the same line is not."""
        redirects: tuple[Redirect, ...] = ()
        for child in node.children:
            if child.type == "heredoc_body":
                for part in child.named_children:
                    if part.type in _REFUSED:
                        self.refuse(_REFUSED[part.type])
            elif child.type == "file_redirect":
                redirects += self.file_redirect(child)
            elif child.type == "herestring_redirect":
                for word in child.named_children:
                    self.word(word)
            elif child.type in ("heredoc_start", "heredoc_end", "file_descriptor"):
                continue
            elif child.type == "pipeline":
                self.container(child, piped=True, redirects=())
            elif child.is_named:
                self.statement_or_word(child, piped=piped)
        return redirects

    def statement_or_word(self, node: Node, *, piped: bool) -> None:
        """Arguments may follow `<<EOF`; the grammar hangs them below the here-document."""
        if node.type in _WORDS:
            self.refuse("it has arguments behind a here-document's start")
        else:
            self.statement(node, piped=piped)

    def file_redirect(self, node: Node) -> tuple[Redirect, ...]:
        operator = next((child.type for child in node.children if not child.is_named), "")
        targets = [self.word(child) for child in node.named_children if child.type != "file_descriptor"]
        if not targets:
            return (Redirect(operator, ""),)
        found: list[Redirect] = []
        for target in targets:
            joins = operator in (">&", "<&", ">&-", "<&-") and (target.text.isdigit() or target.text == "-")
            found.append(Redirect(operator, "" if joins else target.text))
            if target.pattern:
                self.refuse("it redirects to a pattern")
        return tuple(found)

    def command(self, node: Node, *, piped: bool, redirects: tuple[Redirect, ...]) -> None:
        assignments: list[str] = []
        words: list[Word] = []
        for child in node.children:
            if child.type == "variable_assignment":
                assignments.append(self.assignment(child))
            elif child.type == "command_name":
                words.extend(self.word(part) for part in child.children)
            elif child.type == "file_redirect":
                redirects += self.file_redirect(child)
            elif child.type == "herestring_redirect":
                for word in child.named_children:
                    self.word(word)
            elif child.type == "heredoc_redirect":
                redirects += self.heredoc(child, piped=piped)
            elif child.is_named or child.type in _PLAIN_TOKENS:
                words.append(self.word(child))
            else:
                self.refuse(f"it uses a form that is not judged ({child.type})")
        self.commands.append(SimpleCommand(tuple(assignments), tuple(words), redirects, piped, self.text(node)))

    def assignment(self, node: Node) -> str:
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        if value is not None:
            self.word(value)
        if name is None or name.type != "variable_name":
            self.refuse("it sets a part of an array")
            return ""
        return self.text(name)

    def word(self, node: Node) -> Word:
        kind = node.type
        text = self.text(node)
        if kind in ("word", "number", "variable_name", "test_operator", "regex", "file_descriptor") or (
            not node.is_named and kind in _PLAIN_TOKENS
        ):
            return self.plain(text)
        if kind == "raw_string":
            return Word(text[1:-1])
        if kind == "string":
            return self.quoted(node, text)
        if kind == "concatenation":
            if _BRACES.search(text):
                self.refuse(_REFUSED["brace_expression"])
            parts = [self.word(child) for child in node.children]
            return Word("".join(part.text for part in parts), any(part.pattern for part in parts))
        self.refuse(_REFUSED.get(kind, f"it uses a form that is not judged ({kind.replace('_', ' ')})"))
        return Word(text)

    def plain(self, text: str) -> Word:
        """Take the backslashes off an unquoted word."""
        if not _SPECIAL.search(text):
            return Word(text)
        if _BRACES.search(text):
            self.refuse(_REFUSED["brace_expression"])
        taken: list[str] = []
        pattern = False
        escaped = False
        for character in text:
            if escaped:
                escaped = False
                if character != "\n":
                    taken.append(character)
            elif character == "\\":
                escaped = True
            else:
                pattern = pattern or character in "*?["
                taken.append(character)
        return Word("".join(taken), pattern)

    def quoted(self, node: Node, text: str) -> Word:
        for child in node.named_children:
            if child.type != "string_content":
                self.refuse(_REFUSED.get(child.type, "it builds a string in a way that is not judged"))
        return Word(re.sub(r'\\([\\"$`\n])', lambda found: found[1].strip("\n"), text[1:-1]))


_WORDS = frozenset({"word", "number", "raw_string", "string", "concatenation"})
_PLAIN_TOKENS = frozenset({"=", "==", "=~", "+", "-", "!", ",", ":", "%", "[", "]", "{", "}", "$"})
