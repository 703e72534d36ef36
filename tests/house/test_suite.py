#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of scripts/suite.py: it counts cases rightly and notices failures, losses and lateness.

A small meson project of shell scripts that print what cmocka prints, and scripts that fail, skip,
crash or take too long, is run by the very script that scripts/test uses.
"""
import os
import subprocess
import sys
import tempfile

SUITE = os.path.join(os.environ.get("WEFT_SOURCE", "."), "scripts", "suite.py")

CMOCKA = """[==========] Running 4 test(s).
[ RUN      ] a
[       OK ] a
[ RUN      ] b
[  FAILED  ] b
[ RUN      ] c
no interface here
[  SKIPPED ] c
[ RUN      ] d
[       OK ] d
[==========] 4 test(s) run.
[  PASSED  ] 2 test(s).
[  SKIPPED ] 1 test(s), listed below:
[  SKIPPED ] c
[  FAILED  ] 1 test(s), listed below:
[  FAILED  ] b
"""

# cmocka 1.1.7 of Debian 13 names the group in its closing lines
CMOCKA_NEWER = CMOCKA.replace("] 1 test(s), listed", "] group: 1 test(s), listed")

UNITTEST = """test_a (x.T) ... ok
test_b (x.T) ... FAIL
test_c (x.T) ... skipped 'no c here'

======================================================================
FAIL: test_b (x.T)
----------------------------------------------------------------------
Ran 3 tests in 0.001s

FAILED (failures=1, skipped=1)
"""

# suite: script, expected (passed, failed, skipped), words that its report must have
CASES = {
    "plain": ("exit 0", (1, 0, 0), []),
    "fails": ("exit 1", (0, 1, 0), ["bad build/fails", "fail"]),
    "skips": ("echo needs a printer; exit 77", (0, 0, 1), ["why", "needs a printer"]),
    "crash": ("echo '[ RUN      ] a'; echo '[       OK ] a'; echo '[ RUN      ] b'; kill -SEGV $$",
              (1, 1, 0), ["bad build/crash"]),
    "cases": (f"cat <<'X'\n{CMOCKA}X\nexit 1", (2, 1, 1), ["c: no interface here", "cases: b"]),
    "newer": (f"cat <<'X'\n{CMOCKA_NEWER}X\nexit 1", (2, 1, 1),
              ["c: no interface here", "newer: b"]),
    "unittest": (f"cat >&2 <<'X'\n{UNITTEST}X\nexit 1", (1, 1, 1),
                 ["test_c: no c here", "unittest: test_b"]),
    "lines": ("echo 'ok - a'; echo 'not ok - b'; echo 'ok - c # SKIP no d'; exit 1", (1, 1, 1),
              ["c: no d", "lines: b"]),
    "tap": ("echo 1..3; echo 'ok 1 - a'; echo 'not ok 2 b'; echo 'ok 3 - c # SKIP no d'; exit 1",
            (1, 1, 1), ["c: no d", "tap: b"]),
    "liar": ("echo 'ok - a'; exit 3", (1, 1, 0), ["bad"]),
    "slow": ("sleep 2", (1, 1, 0), ["over its budget of 1 s"]),
    "empty": (None, (0, 0, 0), []),
}


def make_project(folder):
    rows = ["project('p')"]
    for name, (script, _, _) in CASES.items():
        if script is None:
            continue
        path = os.path.join(folder, name + ".sh")
        with open(path, "w", encoding="utf-8") as f:
            f.write("#!/bin/bash\n" + script + "\n")
        os.chmod(path, 0o755)
        rows.append(f"test('{name}', find_program('{name}.sh'), suite: '{name}')")
    with open(os.path.join(folder, "meson.build"), "w", encoding="utf-8") as f:
        f.write("\n".join(rows) + "\n")
    subprocess.run(["meson", "setup", "build"], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def run_case(folder, name):
    _, want, words = CASES[name]
    result = os.path.join(folder, "result")
    budget = "1" if name == "slow" else "60"  # a busy machine must not decide the others
    done = subprocess.run([sys.executable, SUITE, "--build", "build", "--suite", name,
                           "--budget", budget, "--result", result], cwd=folder, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    with open(result, encoding="utf-8") as f:
        said = f.read()
    numbers = dict(line.split(" ", 1) for line in said.splitlines()[:3])
    got = tuple(int(numbers[k]) for k in ("passed", "failed", "skipped"))
    wrong = [w for w in words if w not in said]
    good = got == want and not wrong and (done.returncode != 0) == (want[1] > 0)
    print(f"{'ok' if good else 'not ok'} - {name}")
    if not good:
        print(f"  found {got}, expected {want}, status {done.returncode}, lacks {wrong}:\n{said}")
    return good


def main():
    with tempfile.TemporaryDirectory(prefix="weft-suite-") as folder:
        make_project(folder)
        results = [run_case(folder, name) for name in CASES]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
