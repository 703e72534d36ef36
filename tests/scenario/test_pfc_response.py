#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""sonic-mgmt's PFC pause response test: how long senders may take to stop before frames are lost.

Closed forms, in bytes of wire time at 100 Gb/s and quanta of 64 of them. After the frame that
crosses XOFF a sender goes on for: our frame that has just begun, the PFC frame up to its last bit,
twice the cable, its response; and ends the frame that it has begun. What is refused first is the
frame that the headroom has no room for. weft check's bound is for the longest frames that the
links allow, so it may not be later than that, and not more than a frame earlier.
"""
import json
import os
import subprocess
import sys
import tempfile

WEFT = os.path.abspath(os.environ.get("WEFT", "build/weft"))
FRAME = 4158  # 4,096 B of payload, with FCS
WIRE = FRAME + 20
MTU_FRAME = 4200 + 14 + 8 + 4
CABLES = 2 * 500 * 100 // 8  # 500 ns each way
SCENARIO = """
weft: 1
name: pfc-response
lossless: {lossless}
topology: {{kind: leaf_spine, leaves: 1, spines: 0, hosts_per_leaf: 5}}
links: {{"*": {{mtu: 4200}}}}
switches:
  "*": {{pg: {{3: {{lossless: true, xoff: {xoff}B, xon: {xon}B, headroom: {headroom}B}}}}}}
hosts: {{"*": {{pfc: {{response: {response}ps}}}}}}
workload:
  - {{name: in, kind: incast, from: "h[1-4]", to: h0, size: 4MB, path_mtu: 4096, window: 4MB, dscp: 26, ack_timeout: 1ms, retries: 7}}
  # so that PFC frames find the wire taken, at all phases
  - {{name: b1, from: h0, to: h1, size: 4MB, path_mtu: 4096, window: 1MB, dscp: 0, ack_timeout: 10s, rate: 23Gbps}}
  - {{name: b2, from: h0, to: h2, size: 4MB, path_mtu: 4096, window: 1MB, dscp: 0, ack_timeout: 10s, rate: 31Gbps}}
  - {{name: b3, from: h0, to: h3, size: 4MB, path_mtu: 4096, window: 1MB, dscp: 0, ack_timeout: 10s, rate: 37Gbps}}
expect:
  - lossless_drops_expected: true
"""


def write(path, frames, quanta, lossless):
    with open(path, "w", encoding="utf-8") as f:
        f.write(SCENARIO.format(lossless=lossless, xoff=12 * FRAME, xon=10 * FRAME,
                                headroom=frames * FRAME, response=quanta * 5120))


def losses(path, frames, quanta):
    write(path, frames, quanta, "best_effort")
    done = subprocess.run([WEFT, "run", "--no-capture", "--json", "-", path], check=True,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return json.loads(done.stdout)["fabric"].get("lossless_drop_frames", 0)


def accepted(path, frames, quanta):
    write(path, frames, quanta, "strict")
    done = subprocess.run([WEFT, "check", path], check=False, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    return done.returncode == 0


def first_loss(frames):
    """The headroom holds the frame that crossed and frames - 1 more; one begins in each WIRE."""
    return -(-((frames - 1) * WIRE - WIRE - (64 + 8) - CABLES) // 64)


def bound(frames):
    """Most quanta for which weft check takes the headroom: 802.1Q annex N."""
    return (frames * FRAME - 2 * MTU_FRAME - MTU_FRAME - 20 - 84 - CABLES) // 64


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "s.yaml")
        for frames in (8, 9):
            n, b = first_loss(frames), bound(frames)
            claims = {
                f"{frames} frames: nothing lost at {n - 1} quanta": losses(path, frames, n - 1) == 0,
                f"{frames} frames: something lost at {n + 7}": losses(path, frames, n + 7) > 0,
                f"{frames} frames: check takes {b} quanta": accepted(path, frames, b),
                f"{frames} frames: check refuses {b + 1}": not accepted(path, frames, b + 1),
                f"{frames} frames: {b} and {n} are a frame apart":
                    0 <= 64 * (n - b) <= MTU_FRAME + 6 * 84,
            }
            for claim, holds in claims.items():
                failed += not holds
                print(f"{'ok' if holds else 'not ok'} - {claim}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
