#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the commands that the documentation shows, and compares what they print.

    docs_commands.py SUITE BUILD FILE...

A block fenced as ```sh test=SUITE is run by bash in the project's folder. A block fenced as
```text expect right behind it holds lines that must be found in the output, in that order; a line
"..." says that others may stand there (they may anyway), and "<...>" within a line matches
anything. `build/` in commands stands for the build folder. Exit code 77 is a skip.
"""
import os
import re
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^(`{3,})(.*)$")


def blocks(text):
    """(line, info, body) of each fenced block."""
    lines = text.split("\n")
    i = 0
    while i < len(lines):
        m = FENCE.match(lines[i])
        i += 1
        if not m:
            continue
        start, body = i, []
        while i < len(lines) and lines[i] != m.group(1):
            body.append(lines[i])
            i += 1
        i += 1
        yield start, m.group(2).strip(), "\n".join(body)


def missing(expected, output):
    """The first expected line that the output lacks, or None."""
    have = iter(line.strip() for line in output.split("\n"))
    for want in (line.strip() for line in expected.split("\n")):
        if not want or want == "...":
            continue
        pattern = ".*".join(re.escape(p) for p in re.split(r"<[^<>]*>", want))
        if not any(re.fullmatch(pattern, line) for line in have):
            return want
    return None


def run_block(body, build, folder):
    if os.path.realpath(build) != os.path.realpath(os.path.join(folder, "build")):
        body = re.sub(r"(?<![\w/.-])(\./)?build/", build + "/", body)
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", body], cwd=folder, check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.returncode, done.stdout.decode("utf-8", "replace")


def run_text(name, text, suite, build, folder):
    """(failed, lines of the report) for one document."""
    failed, report, last = 0, [], None
    for line, info, body in blocks(text):
        words = info.split()
        if f"test={suite}" in words:
            status, last = run_block(body, build, folder)
            if status == 77:
                report.append(f"ok - {name}:{line} # SKIP {last.strip().splitlines()[-1:]}")
                last = None
            elif status:
                failed += 1
                report += [f"  {ln}" for ln in last.splitlines()[-20:]]
                report.append(f"not ok - {name}:{line}: exit status {status}")
                last = None
            else:
                report.append(f"ok - {name}:{line}")
        elif "expect" in words and last is not None:
            lacks = missing(body, last)
            if lacks:
                failed += 1
                report += [f"  {ln}" for ln in last.splitlines()[-40:]]
                report.append(f"not ok - {name}:{line}: the output lacks '{lacks}'")
            else:
                report.append(f"ok - {name}:{line}: output")
            last = None
        elif any(w.startswith("test=") for w in words):
            last = None
    return failed, report


def self_test():
    """The runner has to notice a failing command and a line that isn't there."""
    fence = "`" * 3
    good = f"{fence}sh test=a\necho one; echo two 2 s\n{fence}\n"
    cases = [
        (good + f"{fence}text expect\none\n...\ntwo <n> s\n{fence}\n", 0),
        (good + f"{fence}text expect\ntwo <n> s\none\n{fence}\n", 1),
        (f"{fence}sh test=a\nfalse; true\n{fence}\n", 1),
        (f"{fence}sh test=b\nfalse\n{fence}\n", 0),
    ]
    with tempfile.TemporaryDirectory() as folder:
        for text, want in cases:
            got = run_text("planted", text, "a", folder + "/build", folder)[0]
            if got != want:
                print(f"not ok - self-test: {got} failures, {want} planted in:\n{text}")
                return False
    return True


def main():
    suite, build, files = sys.argv[1], os.path.abspath(sys.argv[2]), sys.argv[3:]
    folder = os.environ.get("WEFT_SOURCE", ".")
    failed = 0 if self_test() else 1
    ran = 0
    for f in files:
        with open(os.path.join(folder, f), encoding="utf-8") as h:
            n, report = run_text(f, h.read(), suite, build, folder)
        failed, ran = failed + n, ran + len(report)
        print("\n".join(report))
    if not ran:
        print(f"no block of test={suite} in {' '.join(files)}")
        return 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
