#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the house rules on the project, after showing of each that it can fail.

For each rule below: a file that breaks it, in an otherwise clean tree, and the words that the rule
has to say of it. The clean tree passes every rule.
"""
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rules  # noqa: E402

TAG = "SPDX-License-Identifier: BSD-3-Clause"
HEAD = f"/* {TAG} */\n/* Planted by the house test. */\n"

CLEAN = {
    "emu/base/a.h": HEAD + "int wf_a(int x);\n",
    "emu/base/a.c": f"/* {TAG} */\n#include \"base/a.h\"\n\nint wf_a(int x)\n{{\n"
                    "    static const int table[] = {1, 2};\n\n    return table[x & 1];\n}\n",
    "emu/net/n.h": HEAD + '#include "base/a.h"\n',
    "emu/eth/e.h": HEAD + "int wf_e(void);\n",
    "emu/main.c": HEAD + '#include "net/n.h"\n',
    "tests/base/test_a.c": HEAD + "int wf_x(void);\n",
    "tests/meson.build": f"# {TAG}\nunit_tests = [['base', 'a']]\n",
    "docs/ARCHITECTURE.md": "[the rules](ARCHITECTURE.md), `emu/base/a.h`\n",
    "scripts/run": f"#!/bin/sh\n# {TAG}\necho \"$1\"\n",
}

LONG = "int wf_long(int x)\n{\n" + "    x++;\n" * 68 + "    return x;\n}\n"
LONG_PY = f"# {TAG}\ndef f():\n" + "    pass\n" * 70

# rule, file, contents, what it has to say
PLANTED = [
    ("include_order", "emu/base/b.h", HEAD + '#include "net/n.h"\n', "base/ may not include net/"),
    ("include_order", "emu/ib/b.h", HEAD + '#include "eth/e.h"\n', "ib/ may not include eth/"),
    ("include_order", "emu/net/b.h", HEAD + '#include "base/gone.h"\n', "is no file below emu/"),
    ("include_order", "emu/odd/b.h", HEAD, "'odd' is not in the include order"),
    ("no_dpdk_in_pure_code", "emu/wire/b.h", HEAD + "#include <rte_mbuf.h>\n", "without DPDK"),
    ("clock_has_one_home", "emu/net/b.c", HEAD + "int f(void)\n{\n    return rand();\n}\n", "rand()"),
    ("clock_has_one_home", "emu/ctl/b.c",
     HEAD + "void f(void)\n{\n    clock_gettime(0, 0);\n}\n", "clock_gettime()"),
    ("environment_has_one_home", "emu/host/b.c",
     HEAD + "void f(void)\n{\n    getenv(\"A\");\n}\n", "environment"),
    ("no_allocation_in_pure_code", "emu/xport/b.c",
     HEAD + "void f(void)\n{\n    free(malloc(1));\n}\n", "allocates nothing"),
    ("no_globals", "emu/net/b.c", HEAD + "static uint64_t counter;\n", "'counter' is a global"),
    ("no_globals", "emu/net/b.c", HEAD + "struct wf_x *list[4] = {0};\n", "'list' is a global"),
    ("no_struct_typedef", "emu/net/b.h", HEAD + "typedef struct x x_t;\n", "no typedef"),
    ("no_promises", "emu/net/b.h", HEAD + "/* TO" "DO later */\n", "promises work"),
    ("no_promises", "scripts/odd", f"# {TAG}\n# a st" "ub\n", "promises work"),
    ("no_machine_paths", "docs/odd.md", "see /wo" "rk/main\n", "path of one machine"),
    ("no_registry_hosts", "docs/odd.md", "http" "://ftp.deb" "ian.org/x\n", "package registry"),
    ("spdx", "emu/net/b.h", "/* Planted. */\n", "no SPDX line"),
    ("spdx", "scripts/odd", "#!/bin/bash\necho\n", "no SPDX line"),
    ("file_begins_with_its_subject", "emu/net/b.h", f"/* {TAG} */\nint x;\n", "does not begin"),
    ("short_functions", "emu/net/b.c", HEAD + LONG, "wf_long() has 72 lines"),
    ("short_functions", "tests/odd.py", LONG_PY, "f() has 71 lines"),
    ("formatted", "emu/net/b.h", HEAD + "int  f( void );\n", "clang-format -i changes it"),
    ("spelling", "docs/odd.md", "to rec" "ieve a packet\n", "==>"),
    ("shell", "scripts/odd", f"#!/bin/sh\n# {TAG}\nrm $1/*\n", "SC2086"),
    ("every_test_is_listed", "tests/base/test_b.c", HEAD, "no meson.build runs it"),
    ("every_test_is_listed", "tests/fuzz/fuzz_b.c", HEAD, "no meson.build runs it"),
    ("docs_name_what_exists", "docs/odd.md", "[x](gone.md)\n", "'gone.md' does not exist"),
    ("docs_name_what_exists", "README.md", "run `scripts/gone`\n", "'scripts/gone' does not exist"),
    ("model_has_one_row_each", "docs/MODEL.md", "| a | `emu/main.c` | x |\n| a | `emu/main.c` |\n",
     "'a' has a row already, in line 1"),
]


def plant(folder, files):
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)


def judge(rule, root):
    """What a rule says of a tree: (list of complaints, reason of a skip or None)."""
    try:
        return list(rule(rules.Tree(root))), None
    except rules.Skip as why:
        return [], str(why)


def check_rule(rule, source):
    """One rule: quiet on the clean tree, loud on each planted one, then on the project."""
    planted = [p for p in PLANTED if p[0] == rule.__name__]
    if not planted:
        return ["the house test plants nothing for this rule"], None
    for _, name, text, say in [(None, None, None, None)] + planted:
        with tempfile.TemporaryDirectory(prefix="weft-house-") as folder:
            plant(folder, CLEAN)
            shutil.copy(os.path.join(source, ".clang-format"), folder)
            if name:
                plant(folder, {name: text})
            found, skipped = judge(rule, folder)
        if skipped:
            return [], skipped
        if not name and found:
            return [f"complains of a clean tree: {found[0]}"], None
        if name and not any(say in f and f.startswith(name) for f in found):
            return [f"overlooks the planted {name} ({say}): {found}"], None
    return judge(rule, source)


def main():
    source = os.environ.get("WEFT_SOURCE") or os.path.join(os.path.dirname(__file__), "..", "..")
    failed = 0
    for rule in rules.RULES:
        found, skipped = check_rule(rule, source)
        for line in found[:40]:
            print(f"  {line}")
        failed += 1 if found else 0
        status = "not ok" if found else "ok"
        print(f"{status} - {rule.__name__}" + (f" # SKIP {skipped}" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
