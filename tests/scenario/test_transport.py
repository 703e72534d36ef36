#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The rate at which messages cross, against the closed form: full packets carry M bytes of M + 82 on
the wire of IPv4 (8 preamble, 14 Ethernet, 20 IP, 8 UDP, 12 BTH, 4 ICRC, 4 FCS, 12 gap). Two messages that differ by whole packets, so that what is not steady falls away; so it is for
each path MTU, and for all operations and services that carry data.
"""
import json
import os
import subprocess
import sys
import tempfile

WEFT = os.path.abspath(os.environ.get("WEFT", "build/weft"))
RATE = 100e9
FORM = """weft: 1
name: goodput
topology: {{kind: leaf_spine, leaves: 1, spines: 0, hosts_per_leaf: 2}}
workload:
  - {{name: w, from: h0, to: h1, size: {size}B, path_mtu: {mtu}, window: 1GiB, {more}}}
"""


def completion_ps(mtu, packets, more):
    text = FORM.format(size=mtu * packets, mtu=mtu, more=more)
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
        f.write(text)
        f.flush()
        done = subprocess.run([WEFT, "run", "--no-capture", "--json", "-", f.name], check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{text}\n{done.stderr}")
    return json.loads(done.stdout)["flows"][0]["completion_ps"]


def goodput(mtu, more):
    few, many = 100, 1100
    ps = completion_ps(mtu, many, more) - completion_ps(mtu, few, more)
    return (many - few) * mtu * 8 / (ps / 1e12) / RATE


def main():
    cases = [(mtu, f"op: write, service: {s}") for mtu in (256, 512, 1024, 2048, 4096)
             for s in ("rc", "uc")]
    cases += [(mtu, f"op: {op}") for mtu in (256, 4096)
              for op in ("send", "send_imm", "write_imm", "read")]
    bad = 0
    for mtu, more in cases:
        want, got = mtu / (mtu + 82), goodput(mtu, more)
        ok = abs(got - want) < 0.00005
        bad += not ok
        print(f"{'ok' if ok else 'not ok'} - {mtu} {more}: {got:.6f}, closed form {want:.6f}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
