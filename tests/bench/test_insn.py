#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a link-hop costs in instructions, against the budgets of insn-budgets.txt.

   test_insn.py BENCH_ENGINE [BUDGETS]

Instructions are counted by callgrind and only inside the run, so that the figure is the same each
time and on a busy machine. Valgrind's CPU has no AVX-512, whatever the machine has.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

LOOSE = 0.90  # a budget of which less than this is used no longer guards anything


def budgets(path):
    with open(path, encoding="utf-8") as f:
        rows = [ln.split() for ln in f if ln.strip() and not ln.startswith("#")]
    return [(name, float(most)) for name, most in rows]


def count(bench, scenario):
    """(instructions inside wf_run_loop, link-hops) of one run; None when it did not run so."""
    with tempfile.TemporaryDirectory() as tmp:
        cmd = ["valgrind", "--tool=callgrind", "--collect-atstart=no",
               "--toggle-collect=wf_run_loop", f"--callgrind-out-file={tmp}/out", bench, scenario]
        ran = subprocess.run(cmd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, timeout=150, check=False)
    insns = re.search(r"Collected : (\d+)", ran.stderr)
    hops = re.search(r"^link_hops (\d+)$", ran.stdout, re.M)
    if ran.returncode or not insns or not hops or not int(insns.group(1)):
        print(f"{' '.join(cmd)}: exit code {ran.returncode}\n{ran.stderr[-2000:]}", file=sys.stderr)
        return None
    return int(insns.group(1)), int(hops.group(1))


def judge(name, counted, most, path):
    """The line for one scenario, and whether it passed."""
    if not counted:
        return f"not ok - {name}: no instructions and link-hops were counted", False
    used = counted[0] / counted[1]
    said = f"{used:.1f} instructions per link-hop"
    if used > most:
        return f"not ok - {name}: {said}, the budget in {path} is {most:.0f}", False
    note = f"; less than {LOOSE:.0%} of it: lower that line" if used < LOOSE * most else ""
    return f"ok - {name}: {said}, the budget in {path} is {most:.0f}{note}", True


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    if not shutil.which("valgrind"):
        print("there is no valgrind here")
        return 77
    path = "tests/bench/insn-budgets.txt"
    file = sys.argv[2] if len(sys.argv) > 2 else os.path.join(os.environ["WEFT_SOURCE"], path)
    rows = budgets(file)
    if not rows:
        print(f"not ok - {file} has no budget in it")
        return 1
    good = len({name for name, _ in rows}) == len(rows)
    if not good:  # of two lines the lower one is meant, but nobody can see that
        print(f"not ok - {file} names a scenario twice")
    with ThreadPoolExecutor(2) as pool:
        counts = list(pool.map(lambda row: count(sys.argv[1], row[0]), rows))
    for (name, most), counted in zip(rows, counts):
        line, passed = judge(name, counted, most, path if len(sys.argv) < 3 else file)
        print(line, flush=True)
        good &= passed
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
