#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs one meson suite within a time budget and counts its test cases.

A program of cmocka or unittest counts by its cases, one that prints "ok - name" and "not ok - name"
lines by those, any other as one. Exit code 77 is a skip, and the reason is what the program printed last.
Used by scripts/test; writes "passed N", "failed N", "skipped N", "why TEXT" and "bad TEXT" lines.
"""
import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time

# one at a time: these own interfaces, guests or hugepages
SERIAL = {"live", "lab", "pmd"}
# between "ok" and the name: "ok - name", or TAP's "ok 1 - name" and "ok 1 name"
LINE = r"(?: \d+)?(?: -)? "


def count_cmocka(text):
    """(passed, failed, skipped) by cmocka's own lines, or None when there are none."""
    ran = len(re.findall(r"^\[ RUN      \]", text, re.M))
    if not ran:
        return None
    passed = len(re.findall(r"^\[       OK \]", text, re.M))
    skipped = sum(int(n) for n in re.findall(r"^\[  SKIPPED \] (?:.*: )?(\d+) test\(s\)", text,
                                               re.M))
    return passed, ran - passed - skipped, skipped


def count_lines(text):
    """The same for "ok - name", "ok - name # SKIP why" and "not ok - name", numbered or not."""
    good = re.findall(rf"^ok{LINE}(.*)$", text, re.M)
    bad = re.findall(rf"^not ok{LINE}(.*)$", text, re.M)
    if not good and not bad:
        return None
    skipped = [g for g in good if "# SKIP" in g]
    return len(good) - len(skipped), len(bad), len(skipped)


def count_unittest(text):
    """The same for Python's unittest."""
    ran = re.search(r"^Ran (\d+) tests? in", text, re.M)
    if not ran:
        return None
    last = re.findall(r"^(?:OK|FAILED)(?: \((.*)\))?$", text, re.M)
    n = dict(re.findall(r"(failures|errors|skipped)=(\d+)", last[-1] if last else ""))
    failed = int(n.get("failures", 0)) + int(n.get("errors", 0))
    skipped = int(n.get("skipped", 0))
    # several subtests of one test may fail
    return max(int(ran.group(1)) - failed - skipped, 0), failed, skipped


def reasons(name, text):
    """What a skipped case or program said of it."""
    found = [f"{name}: {what}: {why.strip()}"
             for what, why in re.findall(rf"^ok{LINE}(.*?) # SKIP (.*)$", text, re.M)]
    found += [f"{name}: {what}: {why}"
              for what, why in re.findall(r"^(\w+) \(.*\) \.\.\. skipped ['\"](.*)['\"]$", text, re.M)]
    lines = [ln.strip() for ln in text.splitlines() if ln.strip()]
    for i, line in enumerate(lines):
        m = re.match(r"\[  SKIPPED \] (?!.*\d+ test\(s\))(\S+)$", line)
        if m and i and not lines[i - 1].startswith("[  SKIPPED"):
            before = lines[i - 1]
            why = "no reason given" if before.startswith("[ RUN") else before
            found.append(f"{name}: {m.group(1)}: {why}")
    return found


def judge(entry):
    """One line of meson's testlog.json -> (passed, failed, skipped, why[], bad[])."""
    name = entry["name"]
    text = (entry.get("stdout") or "") + "\n" + (entry.get("stderr") or "")
    counts = count_cmocka(text) or count_unittest(text) or count_lines(text)
    result = entry["result"]
    if result in ("OK", "EXPECTEDFAIL"):
        passed, failed, skipped = counts or (1, 0, 0)
    elif result == "SKIP":
        passed, failed, skipped = (0, 0, 1)
    else:
        passed, failed, skipped = counts or (0, 1, 0)
        failed = max(failed, 1)
    why = reasons(name, text)
    if skipped and not why:
        said = [ln.strip() for ln in text.splitlines() if ln.strip()]
        why = [f"{name}: {said[-1] if said else 'no reason given'}"]
    cases = re.findall(rf"^not ok{LINE}(.*)$", text, re.M)
    cases += re.findall(r"^(?:FAIL|ERROR): (\w+)", text, re.M)
    cases += re.findall(r"^\[  FAILED  \] (?!.*\d+ test\(s\))(\S+)$", text, re.M)
    bad = [f"{name}: {c}" for c in dict.fromkeys(cases)]
    if failed and not bad:
        bad = [f"{name}: {result.lower()}"]
    return passed, failed, skipped, why, bad


def defined(args):
    """How many tests of the build belong to the suite and not to the excluded ones."""
    out = subprocess.run(["meson", "introspect", "--tests", args.build], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    suites = [{s.split(":")[-1] for s in t["suite"]} for t in json.loads(out)]
    return sum(1 for s in suites if args.suite in s and not s & set(args.exclude))


def environment(sanitized):
    env = dict(os.environ)
    if sanitized:
        env["WEFT_SANITIZE"] = "1"
        env["ASAN_OPTIONS"] = "abort_on_error=1:detect_stack_use_after_return=1"
        env["UBSAN_OPTIONS"] = "halt_on_error=1:print_stacktrace=1"
    return env


def run(args):
    """Runs the suite; returns seconds, or None when it had to be ended."""
    cmd = ["meson", "test", "-C", args.build, "--no-rebuild", "--suite", args.suite,
           "--print-errorlogs"]
    for suite in args.exclude:
        cmd += ["--no-suite", suite]
    if args.suite in SERIAL:
        cmd += ["--num-processes", "1"]
    log = os.path.join(args.build, "meson-logs", "testlog.json")
    if os.path.exists(log):
        os.unlink(log)
    start = time.monotonic()
    child = subprocess.Popen(cmd, env=environment(args.sanitized), start_new_session=True,
                             stdin=subprocess.DEVNULL)
    try:
        child.wait(timeout=2 * args.budget + 30)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGTERM)
        try:
            child.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        return None
    return time.monotonic() - start


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build", required=True)
    p.add_argument("--suite", required=True)
    p.add_argument("--budget", type=int, required=True)
    p.add_argument("--sanitized", type=int, default=0)
    p.add_argument("--exclude", action="append", default=[])
    p.add_argument("--result", required=True)
    args = p.parse_args()

    label = f"{args.build}/{args.suite}"
    passed = failed = skipped = seen = 0
    why, bad = [], []
    expected = defined(args)
    if expected:
        took = run(args)
        log = os.path.join(args.build, "meson-logs", "testlog.json")
        rows = open(log, encoding="utf-8").read().splitlines() if os.path.exists(log) else []
        for row in rows:
            p_, f_, s_, w_, b_ = judge(json.loads(row))
            passed, failed, skipped, seen = passed + p_, failed + f_, skipped + s_, seen + 1
            why += w_
            bad += [f"{label}: {b}" for b in b_]
        if seen < expected:
            failed += expected - seen
            bad.append(f"{label}: {expected - seen} of {expected} tests left no result")
        if took is None or took > args.budget:
            failed += 1
            bad.append(f"{label}: over its budget of {args.budget} s"
                       + ("" if took is None else f": {took:.0f} s"))
    with open(args.result, "w", encoding="utf-8") as f:
        f.write(f"passed {passed}\nfailed {failed}\nskipped {skipped}\n")
        f.writelines(f"why {w}\n" for w in why)
        f.writelines(f"bad {b}\n" for b in bad)
    print(f"   {label}: {passed} passed, {failed} failed, {skipped} skipped"
          + ("" if expected else " (no test is in it yet)"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
