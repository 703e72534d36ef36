#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Digests of whole runs, equal in every build: gcc and clang, -O0 and -O2, Debian 12 and 13.

goldens.txt beside this file has a line for each scenario: name, exit status, digest. A change of
behaviour changes digests on purpose: `test_goldens.py --write` writes them anew, and the commit
says why. Each scenario runs on 1, 2 and 4 lcores, since a run may depend neither on how many there
are nor on the machine's state.
"""
import json
import os
import subprocess
import sys

WEFT = os.environ.get("WEFT", "build/weft")
SOURCE = os.environ.get("WEFT_SOURCE", ".")
GOLDENS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "goldens.txt")


def run(name, lcores=1):
    """"STATUS DIGEST" of one run of a scenario."""
    path = os.path.join(SOURCE, "scenarios", name + ".yaml")
    done = subprocess.run([WEFT, "run", "--no-capture", "--lcores", str(lcores), "--json", "-", path],
                          check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    try:
        return f"{done.returncode} {json.loads(done.stdout)['digest']}"
    except (ValueError, KeyError):
        return f"{done.returncode} none"


def read():
    with open(GOLDENS, encoding="utf-8") as f:
        rows = [line.split() for line in f if line.strip() and line[0] != "#"]
    return {name: f"{status} {digest}" for name, status, digest in rows}


def write(names):
    with open(GOLDENS, encoding="utf-8") as f:
        head = [line for line in f if line[0] == "#"]
    with open(GOLDENS, "w", encoding="utf-8") as f:
        f.writelines(head)
        f.writelines(f"{name} {run(name)}\n" for name in names)


def main():
    goldens = read()
    if "--write" in sys.argv:
        write(goldens)
        return 0
    failed = 0
    for name, want in goldens.items():
        found = {run(name, lcores) for lcores in (1, 2, 4)}
        good = found == {want}
        failed += not good
        print(f"{'ok' if good else 'not ok'} - {name}"
              + ("" if good else f": expected {want}, found {' and '.join(sorted(found))}"))
    return 1 if failed or len(goldens) < 5 else 0


if __name__ == "__main__":
    sys.exit(main())
