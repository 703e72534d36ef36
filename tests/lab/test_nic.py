#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""scenarios/lab-nic.yaml with real soft-RoCE stacks: two senders, one sink behind a link of 20 Mb/s.
Without a NIC, with PFC only, and with NICs that run DCQCN: who paused whom how often, and what
each sender's share is while both send.

    test_nic.py WEFT [NAME...]

77 when there is no QEMU or no image can be built here.
"""
import json
import os
import sys

import test_lab as lab
from test_lab import check, weft

SCENARIO = os.path.join(lab.SOURCE, 'scenarios', 'lab-nic.yaml')
MESSAGES = 120
SENDERS = (b'\x0a\0\0\1', b'\x0a\0\0\2')


def both_send():
    """Two servers on h2; the senders wait long for an ACK, since theirs is no hardware's timer."""
    tool = ['ib_write_bw', '-d', 'rxe0', '-x', '1', '-F', '-m', '4096', '-s', '65536', '-u', '18',
            '-n', str(MESSAGES), '--tclass=106', '-p']
    out = weft('exec', '-t', '110s', 'h2', '--', *tool, '7001', ':::', 'h2', '--', *tool, '7002',
               ':::', 'h0', '--', *tool, '7001', 'h2', ':::', 'h1', '--', *tool, '7002', 'h2')
    for host in ('h0', 'h1'):
        check(f'{host}|  65536      {MESSAGES} ' in out, out)


def shares():
    """Bytes of each sender on the slow link from when both began until one was done; their fairness
    by Jain's index."""
    times = {s: [] for s in SENDERS}
    for t, frame in lab.captured('lab-nic.pcapng'):
        if len(frame) > 80 and frame[12:14] == b'\x08\0' and frame[30:34] == b'\x0a\0\0\3':
            times.get(frame[26:30], []).append(t)
    check(all(len(v) > MESSAGES * 16 * 0.9 for v in times.values()),
          f'{[len(v) for v in times.values()]} packets of the senders')
    begin, end = max(v[0] for v in times.values()), min(v[-1] for v in times.values())
    a, b = (sum(begin <= t <= end for t in v) for v in times.values())
    check(a + b > 200, f'they sent {a} and {b} packets beside each other: too few to judge')
    return a, b, (a + b) ** 2 / (2 * (a * a + b * b))


def outcome(*sets):
    """XOFFs that each sender was sent, and the shares."""
    args = [x for s in sets for x in ('--set', s)]
    weft('lab', 'up', *args, SCENARIO, timeout=300)
    try:
        both_send()
        rows = {r['name']: r for r in json.loads(weft('show', 'priorities', '--json'))['rows']}
        edges = {r['name']: r for r in json.loads(weft('show', 'edges', '--json'))['rows']}
    finally:
        summary = weft('lab', 'down')
    xoffs = [rows[f'leaf0:p{i}.prio3']['pfc_xoff_tx_frames'] for i in (0, 1)]
    return xoffs, shares(), edges, summary


def pfc_only_against_dcqcn():
    pfc, pfc_shares, edges, summary = outcome('hosts.*.nic.cc=none')
    check(sum(pfc) >= 100 and min(pfc) > 0, f'{pfc}\n{summary}')
    check(not edges['h0']['rp_cnp_handled_frames'], summary)
    dcqcn, dcqcn_shares, edges, summary = outcome()
    print(f'# XOFFs to h0 and h1: PFC only {pfc}, DCQCN {dcqcn}; packets beside each other and '
          f'fairness: {pfc_shares}, {dcqcn_shares}')
    check(sum(dcqcn) * 10 <= sum(pfc), f'PFC only {pfc}, DCQCN {dcqcn}\n{summary}')
    check(dcqcn_shares[2] > 0.95, f'{dcqcn_shares}\n{summary}')
    for h in ('h0', 'h1'):
        check(edges[h]['rp_cnp_handled_frames'] > 10 and edges[h]['nic_pairs_by_psn_events'] >= 1,
              f'{edges[h]}\n{summary}')
    check(edges['h2']['np_cnp_sent_frames'] == sum(edges[h]['rp_cnp_handled_frames']
                                                   for h in ('h0', 'h1')), summary)
    check('nothing was dropped' in summary or 'unknown_unicast' in summary, summary)


def without_a_nic_frames_are_lost():
    """Whoever obeys nothing is told as often, and loses what does not fit."""
    xoffs, beside, edges, summary = outcome('hosts.*.nic.cc=none', 'hosts.*.attach.pfc=ignore',
                                       'lossless=best_effort')
    print(f'# XOFFs to h0 and h1 without a NIC: {xoffs}; packets and fairness: {beside}')
    check(sum(xoffs) > 10, f'{xoffs}\n{summary}')
    check('peer_ignored_pause' in summary, summary)
    check(edges['h0']['nak_frames'] + edges['h2']['nak_frames'] > 0, summary)


if __name__ == '__main__':
    sys.exit(lab.main([pfc_only_against_dcqcn, without_a_nic_frames_are_lost]))
