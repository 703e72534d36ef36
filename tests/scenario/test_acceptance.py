#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every file of scenarios/acceptance and scenarios/field does what it says, on 1 and 2 lcores.

A line `# variant: WORDS` runs the file once with these words (--set KEY=VALUE) behind `weft run`;
without any it is run as it stands.
"""
import concurrent.futures
import glob
import json
import os
import shlex
import subprocess
import sys

WEFT = os.path.abspath(os.environ.get("WEFT", "build/weft"))
SOURCE = os.path.abspath(os.environ.get("WEFT_SOURCE", "."))


def variants(path):
    with open(path, encoding="utf-8") as f:
        lines = [line.split(":", 1)[1] for line in f if line.startswith("# variant:")]
    return [shlex.split(line) for line in lines] or [[]]


def run(path, words, lcores):
    """Exit status, digest, what it wrote."""
    done = subprocess.run([WEFT, "run", "--no-capture", "--lcores", lcores, "--json", "-", path, *words],
                          check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    try:
        result = json.loads(done.stdout)
        digest = " ".join(r["digest"] for r in result.get("runs", [result]))
    except (ValueError, KeyError):
        digest = "none"
    return done.returncode, digest, done.stdout, done.stderr


def judge(case):
    path, words = case
    name = " ".join([os.path.relpath(path, SOURCE), *words])
    one, two = (run(path, words, lcores) for lcores in "12")
    if one[0] or two[0]:
        bad = one if one[0] else two
        try:
            failed = [e for e in json.loads(bad[2])["expectations"] if e.get("verdict") != "pass"]
        except (ValueError, KeyError):
            failed = ""
        return name, f"exit status {one[0]} and {two[0]}\n{failed}\n{bad[3]}"
    return name, None if one[1] == two[1] != "none" else f"digests {one[1]} and {two[1]}"


def main(folders=("acceptance", "field")):
    paths = [p for d in folders
             for p in sorted(glob.glob(os.path.join(SOURCE, "scenarios", d, "*.yaml")))]
    paths = [p for p in paths if not sys.argv[1:] or os.path.basename(p)[:-5] in sys.argv[1:]]
    cases = [(p, words) for p in paths for words in variants(p)]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, why in pool.map(judge, cases):
            failed += why is not None
            print(f"{'ok' if why is None else 'not ok'} - {name}" + (f": {why}" if why else ""))
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
