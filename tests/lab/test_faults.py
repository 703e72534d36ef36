#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every line of docs/faults.md: what weft does to the packets of a real verbs program between two
soft-RoCE guests, and which completions that program sees. One lab for all of them.

    test_faults.py WEFT [WORD...]     only fences that hold one of the words

77 when there is no QEMU, or the program can't be compiled here.
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

WEFT = os.path.abspath(sys.argv[1])
SOURCE = os.path.abspath(os.environ.get('WEFT_SOURCE', '.'))
ROOT = tempfile.mkdtemp(prefix='weft-test-faults.')
ENV = dict(os.environ, XDG_RUNTIME_DIR=ROOT)
SCENARIO = """weft: 1
name: faults
topology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 1}
links:
  "*": {rate: 1Gbps, delay: 1us}
hosts:
  "*": {mtu: 1500, attach: {type: vhost_user}}
"""


class Failed(Exception):
    pass


def check(condition, what):
    if not condition:
        raise Failed(what)


def weft(*args, status=0, timeout=150):
    done = subprocess.run([WEFT, *args], cwd=ROOT, env=ENV, timeout=timeout, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, errors='replace', check=False)
    check(status is None or done.returncode == status,
          f'weft {" ".join(args)}: exit status {done.returncode}, not {status}:\n{done.stdout}')
    return done.stdout


def fences():
    """(what stands in the fence's first line, its lines) of the page."""
    with open(os.path.join(SOURCE, 'docs/faults.md'), encoding='utf-8') as f:
        text = f.read()
    for head, body in re.findall(r'^```sh (lab=.*)\n((?:.*\n)*?)```$', text, re.M):
        words = dict(word.split('=', 1) for word in shlex.split(head))
        check(set(words) <= {'lab', 'expect', 'filled', 'counters'}, f'{head}: unknown word')
        yield words, body.splitlines()


def counters():
    """hw_counters of both guests, as "h1:name"."""
    out = weft('exec', 'h0', 'h1', '--', 'sh', '-c',
               'cd /sys/class/infiniband/rxe0/ports/1/hw_counters; grep . *')
    return {f'{h}:{name}': int(n) for h, name, n in re.findall(r'^(h\d)\| (\w+):(\d+)$', out, re.M)}


def hits():
    return sum(int(row['hit_frames']) for row in json.loads(weft('show', 'faults', '--json'))['rows'])


def program(words, later):
    """Its output; the lines that stay are run once it has told of a completion."""
    args = [WEFT, 'exec', '-t', '60s', 'h1', '--', './wc_status',
            ':::', 'h0', '--', './wc_status', 'h1', *words['lab'].split()]
    if not later:
        return weft(*args[1:])
    with subprocess.Popen(args, cwd=ROOT, env=ENV, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as p:
        out = ''
        for line in p.stdout:
            out += line
            if line.startswith('h0| wc ') and later:
                time.sleep(0.5)  # the next message is on its way by then
                for words in later:
                    weft(*words)
                later = []
    check(p.returncode == 0, out)
    return out


def case(words, lines):
    ports, before, hit, later = set(), counters() if 'counters' in words else {}, hits(), []
    for line in lines:
        args = shlex.split(line)
        check(args[0] == 'weft', line)
        if '--trigger' in args:
            later.append(args[1:])
        else:
            weft(*args[1:])
        ports.add(args[args.index('--at') + 1])
    out = program(words, later)
    hit = hits() - hit
    for port in ports:
        weft('inject', 'end', '--at', port)
    seen = re.findall(r'^h0\| wc (.*)$', out, re.M)
    check(seen == words['expect'].split(), f'{lines}: {seen}, not {words["expect"]}\n{out}')
    check(hit > 0, f'{lines}: nothing was hit')
    if 'filled' in words:
        check(f'h1| filled {words["filled"]}\n' in out, f'{lines}: not {words["filled"]}\n{out}')
    after = counters() if 'counters' in words else {}
    for name, how, n in re.findall(r'(\S+?)(>=|=)(\S+)', words.get('counters', '')):
        rose, want = after[name] - before[name], hit if n == 'hits' else int(n)
        check(rose >= want if how == '>=' else rose == want, f'{lines}: {name} rose by {rose}')


def port_events(words, lines):
    """The program waits for events while the lines are run, one after the other."""
    with subprocess.Popen([WEFT, 'exec', '-t', '60s', 'h0', '--', './wc_status', 'events',
                           str(len(lines))], cwd=ROOT, env=ENV, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as program:
        seen = [program.stdout.readline()]
        for line in lines:
            weft(*shlex.split(line)[1:])
            seen.append(program.stdout.readline())
    seen = re.findall(r'^wc (.*)$', ''.join(seen), re.M)
    check(seen == words['expect'].split(), f'{lines}: {seen}, not {words["expect"]}')


def compiled():
    source = os.path.join(SOURCE, 'tests/lab/wc_status.c')
    done = subprocess.run(['cc', '-Wall', '-Wextra', '-o', 'wc_status', source, '-libverbs'],
                          cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode:
        print(f'SKIP: {done.stdout}')
    return not done.returncode


def main():
    bad = n = 0
    if not shutil.which('qemu-system-x86_64'):
        print('skipped: no qemu-system-x86_64 (package qemu-system-x86)')
        return 77
    if not compiled():
        return 77
    with open(os.path.join(ROOT, 'faults.yaml'), 'w', encoding='ascii') as f:
        f.write(SCENARIO)
    weft('lab', 'up', 'faults.yaml', timeout=200)
    try:
        for words, lines in fences():
            if sys.argv[2:] and not any(w in str((words, lines)) for w in sys.argv[2:]):
                continue
            began, n = time.monotonic(), n + 1
            try:
                (port_events if words['lab'] == 'events' else case)(words, lines)
                print(f'ok - {lines[0]} ({time.monotonic() - began:.1f} s)', flush=True)
            except (Failed, KeyError, subprocess.TimeoutExpired) as e:
                bad += 1
                print(f'not ok - {e}', flush=True)
    finally:
        summary = weft('lab', 'down', status=None)
    if bad or 'never hit' in summary:
        print(summary)
    check(n, 'no fence in docs/faults.md')
    return 1 if bad or 'never hit' in summary else 0


if __name__ == '__main__':
    try:
        CODE = main()
    except Failed as e:
        print(f'not ok - {e}')
        CODE = 1
    shutil.rmtree(ROOT, ignore_errors=True)
    sys.exit(CODE)
