"""What lies on disk in the home that is pictured: configurations, and what sessions printed."""

from __future__ import annotations

AGENTS = {
    "archivist": """
        [agent]
        description = "Files what the others found"
        risk_profile = "observer"

        [sandbox]
        runner = "command"
        lifecycle = "session"
        idel_timeout = "30m"
        command = ["sh", "sort.sh"]
        """,
    "builder": """
        [agent]
        description = "Builds the release image, layer by layer"
        risk_profile = "hardened"

        [sandbox]
        runner = "command"
        memory = "512m"
        command = ["sh", "build.sh"]
        """,
    "migrator": """
        # Works on the live tables, so it sees this machine as it is.
        [agent]
        description = "Moves the tables to the new schema"
        risk_profile = "trusted"

        [sandbox]
        runner = "command"
        engine = "local"
        lifecycle = "longrunning"
        command = ["sh", "migrate.sh"]
        """,
    "nightly": """
        [agent]
        enabled = false
        description = "Runs while we sleep"
        risk_profile = "hardened"

        [sandbox]
        runner = "command"
        command = ["sh", "nightly.sh"]
        """,
    "researcher": """
        [agent]
        description = "Reads, compares, takes notes"
        risk_profile = "observer"

        [sandbox]
        runner = "command"
        command = ["sh", "read.sh"]
        """,
    "reviewer": """
        # Reviews every pull request before a person does.
        [agent]
        description = "Reviews pull requests"
        risk_profile = "hardened"
        delegates = [{ agent = "researcher", mode = "bounded" }]

        [permissions]
        allowed_commands = ["git", "ls", "cat", "make"]
        allowed_roots = ["~/projects/shared"]

        [workspace.access]
        researcher = "read"

        [sandbox]
        runner = "command"
        lifecycle = "session"
        idle_timeout = "30m"
        memory = "2g"
        cpus = 2.0
        command = ["sh", "review.sh"]
        """,
}

SHARED = """
    [risk_profiles.hardened]
    allowed_commands = ["git", "ls", "cat"]
    forbidden_paths = ["~/.aws", "~/.ssh"]

    [risk_profiles.observer]
    level = "readonly"

    [risk_profiles.trusted]
    allow_unconfined = true

    [defaults.sandbox]
    engine = "docker"
    image = "busybox:latest"
    network = "none"
    pids = 256
    """

REVIEW = """\
\x1b[1mreviewing\x1b[0m pull request \x1b[36m#482\x1b[0m  parser: keep comments when rewriting
collected 214 tests in 31 files

tests/test_lexer.py    \x1b[32m.............................................\x1b[0m  22%
tests/test_parser.py   \x1b[32m....................\x1b[31mF\x1b[32m......\x1b[31mF\x1b[32m.................\x1b[0m  44%
tests/test_writer.py   \x1b[32m.............................................\x1b[0m  66%
tests/test_round.py    \x1b[32m.............................................\x1b[0m  88%
tests/test_cli.py      \x1b[32m..........................\x1b[0m                    100%

\x1b[31m\x1b[1mFAILED\x1b[0m tests/test_parser.py::test_comment_after_array
    expected  "# why b"
    found     ""
\x1b[31m\x1b[1mFAILED\x1b[0m tests/test_parser.py::test_inline_table_order

\x1b[31m2 failed\x1b[0m, \x1b[32m212 passed\x1b[0m in 8.41s
\x1b[1mreading\x1b[0m src/parser.py, src/writer.py, docs/format.md
  the comment belongs to the item before it; \x1b[33m_attach()\x1b[0m looks at the one after
  same cause in both tests
\x1b[1mwriting\x1b[0m review.md \x1b[32m+38 lines\x1b[0m
"""

MIGRATION = """\
\x1b[1mmigrating\x1b[0m orders, 1,204,113 rows
batch 211  \x1b[32mok\x1b[0m  5,000 rows  0.41s
batch 212  \x1b[32mok\x1b[0m  5,000 rows  0.39s
batch 213  \x1b[32mok\x1b[0m  5,000 rows  0.44s
batch 214  \x1b[32mok\x1b[0m  5,000 rows  0.40s
"""
COMPLAINTS = "WARNING row 1,070,332: total is null, kept as it is\n"
