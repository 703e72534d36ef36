#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every scenario in scenarios/acceptance holds what it expects, and is the same run on one lcore and
on two."""
import glob
import json
import os
import subprocess
import sys

WEFT = os.environ.get("WEFT", "build/weft")
SOURCE = os.environ.get("WEFT_SOURCE", ".")


def run(path, lcores):
    done = subprocess.run([WEFT, "run", "--no-capture", "--lcores", str(lcores), "--json", "-", path],
                          check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    try:
        return done.returncode, json.loads(done.stdout)["digest"], done.stderr
    except (ValueError, KeyError):
        return done.returncode, None, done.stderr


def main():
    paths = sorted(glob.glob(os.path.join(SOURCE, "scenarios", "acceptance", "*.yaml")))
    failed = 0
    for path in paths:
        one, two = run(path, 1), run(path, 2)
        good = one[:2] == two[:2] and one[0] == 0 and one[1]
        failed += not good
        print(f"{'ok' if good else 'not ok'} - {os.path.basename(path)}"
              + ("" if good else f": {one[:2]} on one lcore, {two[:2]} on two\n{one[2]}"))
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
