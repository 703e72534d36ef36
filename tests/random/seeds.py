#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws scenarios from seeds, runs each in several ways, and shrinks what fails.

Each program (random_case, and builds of it with other parts) is fed over a pipe; a case passes when
all of them say "ok" with the same digest. A program that dies is started again, and its last words
are the failure. What failed is kept as a scenario that `weft run` takes, and shrunk.
"""
import argparse
import collections
import importlib.util
import os
import re
import select
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def load(name):
    spec = importlib.util.spec_from_file_location(name, os.path.join(HERE, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


sys.dont_write_bytecode = True
draw, shrink = load("draw"), load("shrink")
Verdict = collections.namedtuple("Verdict", "kind what values")
HANG_S = 120


class Program:
    """One random_case --serve."""

    def __init__(self, path, ways):
        self.args = [path] + (["--ways", ways] if ways else []) + ["--serve"]
        self.child = None

    def start(self):
        self.log = tempfile.TemporaryFile()
        self.child = subprocess.Popen(self.args, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=self.log, start_new_session=True)

    def stop(self):
        if self.child:
            self.child.kill()
            self.child.wait()
            try:
                self.child.stdin.close()
            except BrokenPipeError:
                pass  # what was not taken
            self.child.stdout.close()
            self.log.close()
            self.child = None

    def died(self):
        """What it said last: where an assertion stood, or what a sanitizer found."""
        status = self.child.wait()
        self.log.seek(0)
        said = self.log.read().decode("utf-8", "replace").strip()
        m = re.search(r"^.*(assert|ERROR: |runtime error).*$", said, re.M | re.I)
        line = m.group(0) if m else said.splitlines()[-1] if said else f"exit status {status}"
        where = re.search(r"[\w/]+\.[ch]:\d+", line)
        self.stop()
        return Verdict("died:" + (where.group(0) if where else str(status)), line + "\n" + said, {})

    def ask(self, text):
        if not self.child:
            self.start()
        data = text.encode()
        try:
            self.child.stdin.write(b"%d\n" % len(data) + data)
            self.child.stdin.flush()
        except BrokenPipeError:
            pass  # what it said before it ended is still to be read
        if not select.select([self.child.stdout], [], [], HANG_S)[0]:
            self.stop()
            return Verdict("hangs", f"no answer within {HANG_S} s", {})
        line = self.child.stdout.readline().decode()
        if not line:
            return self.died()
        word, _, rest = line.strip().partition(" ")
        if word == "SKIP:":  # it can't run here at all
            return Verdict("skipped", rest, {})
        if word == "ok":
            return Verdict(None, "", dict(x.split("=", 1) for x in rest.split()))
        if word == "bad":
            kind, _, what = rest.partition(": ")
            return Verdict(kind, what, {})
        return Verdict("refused", rest, {})


class Jury:
    """All programs on one case."""

    def __init__(self, args):
        self.programs = [Program(args.program, args.ways)]
        self.programs += [Program(p, "plain") for p in args.against]

    def judge(self, case):
        text = draw.text(case)
        first = self.programs[0].ask(text)
        for other in self.programs[1:]:
            if first.kind:
                break
            verdict = other.ask(text)
            if verdict.kind:
                return verdict
            a, b = first.values["digest"], verdict.values["digest"]
            if a != b:
                name = os.path.basename(other.args[0])
                return Verdict("digest", f"{a}, but {name} says {b}", {})
        return first

    def stop(self):
        for p in self.programs:
            p.stop()


class Run:
    def __init__(self, args):
        self.args = args
        self.lock = threading.Lock()
        self.next = args.first
        self.end = time.monotonic() + args.seconds if args.seconds else None
        self.sums = collections.Counter()
        self.done = 0
        self.reached = args.first  # all seeds below have been run
        self.open = set()
        self.failed = []  # (seed, verdict)
        self.broken = None  # a worker ended by an exception of its own
        self.began = time.monotonic()

    def take(self):
        """The next seed, or None."""
        with self.lock:
            late = self.end and time.monotonic() > self.end
            if self.next >= self.args.first + self.args.seeds or late or \
                    len(self.failed) >= self.args.failures:
                return None
            self.open.add(self.next)
            self.next += 1
            return self.next - 1

    def count(self, seed, verdict):
        with self.lock:
            self.open.remove(seed)
            self.done += 1
            if verdict.kind:
                self.failed.append((seed, verdict))
                say(f"seed {seed}: {verdict.kind}: {verdict.what.splitlines()[0]}")
            for key, value in verdict.values.items():
                if key == "headroom_ppm":
                    self.sums[key] = max(self.sums[key], int(value))
                elif key != "digest":
                    self.sums[key] += int(value)
                    self.sums["seeds with " + key] += int(value) > 0
            if self.args.state and self.done % 50 == 0:
                self.save()
            if self.done % 1000 == 0:
                say(f"{self.done} seeds, {self.done / (time.monotonic() - self.began):.1f} a second")

    def save(self):
        with open(self.args.state + ".new", "w", encoding="utf-8") as f:
            f.write(f"{min(self.open, default=self.next)}\n")
        os.replace(self.args.state + ".new", self.args.state)

    def worker(self):
        jury = Jury(self.args)
        try:
            for seed in iter(self.take, None):
                self.count(seed, jury.judge(draw.draw(seed)))
        except BaseException as e:
            with self.lock:
                self.broken = e
            raise
        finally:
            jury.stop()

    def all(self):
        threads = [threading.Thread(target=self.worker) for _ in range(self.args.jobs)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        if self.args.state:
            self.save()
        self.failed.sort(key=lambda f: f[0])


def say(line):
    print(line, flush=True)


def keep(args, name, case, head):
    path = os.path.join(args.out, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write("".join(f"# {line}\n" for line in head) + draw.text(case))
    return path


def report(args, seed, verdict):
    """The case, its smallest form, and how to see it again."""
    case = draw.draw(seed)
    again = f"{os.path.relpath(__file__)} --program {os.path.relpath(args.program)}"
    again += "".join(f" --against {os.path.relpath(p)}" for p in args.against)
    say(verdict.what)
    say(f"repeat with: {again} --seed {seed}")
    if args.no_shrink or verdict.kind == "refused":
        return case
    jury = Jury(args)
    try:
        small, tries = shrink.shrink(case, lambda c: jury.judge(c).kind == verdict.kind, args.tries)
        last = jury.judge(small)
    finally:
        jury.stop()
    path = keep(args, f"seed-{seed}.yaml", small, [
        f"seed {seed}, shrunk in {tries} tries: {last.kind}: {last.what.splitlines()[0]}"
        if last.what else f"seed {seed}: {last.kind}", f"drawn and shrunk by: {again} --seed {seed}"])
    say(f"shrunk in {tries} tries to {path}, which random_case and weft run take:")
    with open(path, encoding="utf-8") as f:
        say(f.read())
    return small


COVERED = ["pauses", "marks", "drops", "lossless_drops", "full", "trims", "flaps", "faults"]


def summary(run):
    took = time.monotonic() - run.began
    sums = run.sums
    say(f"{run.done} seeds in {took:.1f} s, {run.done / max(took, 0.001):.1f} a second in "
        f"{run.args.jobs} processes; {sums['events']} events, {sums['hops']} link-hops")
    say("seeds with " + ", ".join(f"{key}: {sums['seeds with ' + key]}" for key in COVERED) +
        f"; of a headroom's bound at most {sums['headroom_ppm'] / 10000:.2f} % used")


def options():
    p = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    p.add_argument("--program", required=True, help="random_case")
    p.add_argument("--against", action="append", default=[],
                   help="another build of it, whose digests have to be the same")
    p.add_argument("--ways", default="", help="only these of random_case's ways")
    p.add_argument("--seed", type=int, help="this one only")
    p.add_argument("--first", type=int, default=1)
    p.add_argument("--seeds", type=int, default=100)
    p.add_argument("--seconds", type=float, default=0, help="begin no further seed after so long")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--failures", type=int, default=1, help="stop after so many")
    p.add_argument("--tries", type=int, default=600, help="of the shrinker")
    p.add_argument("--no-shrink", action="store_true")
    p.add_argument("--out", default=".", help="where shrunk cases go")
    p.add_argument("--state", default="", help="file that holds the first seed not yet run")
    args = p.parse_args()
    if args.seed is not None:
        args.first, args.seeds, args.jobs = args.seed, 1, 1
    return args


def main():
    args = options()
    run = Run(args)
    run.all()
    summary(run)
    if any(verdict.kind == "skipped" for _, verdict in run.failed):
        say(f"SKIP: {run.failed[0][1].what}")
        return 77
    for seed, verdict in run.failed[:args.failures]:
        report(args, seed, verdict)
    covered = run.done < 1000 or all(run.sums["seeds with " + key] for key in COVERED)
    # nothing that was to run was left out, and nothing at all is no success
    whole = not run.broken and run.done > 0 and (args.seconds or run.done == args.seeds)
    good = whole and not run.failed
    say(f"{'ok' if good else 'not ok'} - {run.done} seeds from {args.first}")
    say(f"{'ok' if covered else 'not ok'} - they reach what they are there for")
    return 0 if good and covered else 1


if __name__ == "__main__":
    sys.exit(main())
