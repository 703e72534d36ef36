#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Model hosts beside a real soft-RoCE host: one guest, whose kernel's rdma_cm and rxe meet weft's
connection manager and transport, as who asks and as who listens. The program at the guest is
docs/examples/peer.c; both ends check the bytes, and both ends' counters have to agree.

    test_peers.py WEFT [NAME...]

77 when there is no QEMU or no image can be built here, or no headers of librdmacm.
"""
import json
import os
import re
import subprocess
import sys

import test_lab as lab
from test_lab import check, hw_counters, weft

PORT, OTHER = 7174, 7175
FABRIC = """weft: 1
name: peers
topology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 3}
links:
  "*": {rate: 1Gbps, delay: 1us}
hosts:
  h0: {mtu: 4200, attach: {type: vhost_user}}
  h1: {mtu: 4200, listen: {port: 7174, memory: 256KiB, pattern: 77}}
  h3: {mtu: 4200, listen: {port: 7174, memory: 256KiB}}
  h4: {mtu: 4200, listen: {port: 7174, refuse: 28}}
workload:
  - {name: four, from: h5, to: h0, connect: 7175, connect_wait: 400s, size: 50000B, count: 6,
     path_mtu: 1024}
  - {name: six, from: h2, to: h0, connect: 7175, connect_wait: 400s, size: 100001B, count: 4,
     path_mtu: 4096, family: ip6}
capture:
  - {at: "leaf0:p0", file: peers.pcapng}
"""


def peer(*args, status=0):
    return weft('exec', '-t', '90s', '--no-prefix', 'h0', '--', './peer', *map(str, args),
                status=status)


def rows(view):
    return {r['name']: r for r in json.loads(weft('show', '--json', view))['rows']}


def grown(before, after):
    return {k: after[k] - before[k] for k in after if isinstance(after[k], int)}


def asks(address, port, *ops):
    """The program connects and carries out its operations; how the endpoint's counters grew."""
    host = {'10.0.0.2': 'h1', 'fd00::2': 'h1'}.get(address, 'h3')
    before = rows('endpoints')[host]
    out = peer('connect', address, port, *ops)
    check('FAILED' not in out and 'ok: disconnected' in out, out)
    return grown(before, rows('endpoints')[host])


def connects_and_disconnects():
    for address in ('10.1.0.1', 'fd00:1::1', '10.0.0.2', 'fd00::2'):
        more = asks(address, PORT)
        check(more['cm_connected_events'] == 1 and more['cm_disconnected_events'] == 1,
              f'{address}: {more}')
        check(more['rx_messages'] == 0, f'{address}: {more}')


def is_refused():
    before = rows('endpoints')['h3']
    out = peer('connect', '10.1.0.1', PORT + 1, status=1)
    check('RDMA_CM_EVENT_REJECTED, status 8' in out, out)  # IBA: invalid service ID
    check(grown(before, rows('endpoints')['h3'])['cm_rejected_events'] == 1, 'not counted')
    out = peer('connect', '10.1.0.2', PORT, status=1)
    check('RDMA_CM_EVENT_REJECTED, status 28' in out, out)  # consumer reject


def writes():
    """At path MTU 4096 and 1024, IPv4 and IPv6: every byte is the program's."""
    for mtu in (4200, 1500):
        weft('exec', 'h0', '--', 'ip', 'link', 'set', 'eth0', 'mtu', str(mtu))
        for address in ('10.1.0.1', 'fd00:1::1'):
            more = asks(address, PORT, 'write')
            check(more['rx_messages'] == 1 and more['rx_bytes'] >= 1 << 18, f'{address}: {more}')
            check(more['right_bytes'] == 1 << 18 and not more['wrong_bytes'], f'{address}: {more}')
    firsts = {len(f) for _, f in lab.captured('peers.pcapng')
              if f[12:14] == b'\x08\x00' and f[36:38] == b'\x12\xb7' and f[42] == 6}
    # Ethernet, IPv4, UDP, BTH, RETH, payload, ICRC
    check({n + 14 + 20 + 8 + 12 + 16 + 4 for n in (1024, 4096)} <= firsts, f'WRITE FIRST: {firsts}')
    verdicts = [lab.icrc_is_right(f) for _, f in lab.captured('peers.pcapng')]
    check(verdicts.count(True) > 300 and not verdicts.count(False), 'a wrong ICRC')


def reads_and_atomics():
    """What the offer's pattern says is read; what was written is read back; words are swapped and
    added to, and what was there before comes back."""
    for address in ('10.1.0.1', 'fd00:1::1'):
        before = hw_counters('h0')
        asks(address, PORT, 'read', 'cas', 'fadd')
        kernel = grown(before, hw_counters('h0'))
        check(not kernel['rcvd_seq_err'], f'{kernel}')
    asks('10.1.0.1', PORT, 'write', 'read_back')


def errors_have_their_status():
    asks('10.1.0.1', PORT, 'bad_rkey')
    asks('10.1.0.1', PORT, 'bad_va')


def loss_towards_the_model():
    """One in 97 lost: the kernel's retransmissions, our NAKs, and the same bytes in the end."""
    weft('inject', 'drop', '--at', 'leaf1:p0', '--every', '97')
    before = hw_counters('h0')
    more = [asks('10.1.0.1', PORT, 'write') for _ in range(2)]
    kernel = grown(before, hw_counters('h0'))
    naks = sum(m['naks_sent'] for m in more)
    check(all(m['right_bytes'] == 1 << 18 and not m['wrong_bytes'] for m in more), f'{more}')
    # path MTU 1024: 256 packets a message, so five are lost at least; a lost NAK has no twin
    check(naks >= 3 and kernel['rcvd_seq_err'] == naks, f'{naks} NAKs sent, {kernel}')


def flows_to_the_program():
    """Two model hosts ask the program at the same time, one of them through losses."""
    weft('exec', 'h0', '--', 'ip', 'link', 'set', 'eth0', 'mtu', '4200')
    weft('inject', 'drop', '--at', 'leaf0:p0', '--every', '97')
    before = hw_counters('h0')
    out = peer('listen', OTHER, 2)
    kernel = grown(before, hw_counters('h0'))
    check('300000 of 300000 bytes' in out and '400004 of 400004 bytes' in out, out)
    check('FAILED' not in out, out)
    flows = rows('flows')
    for name, count, size in (('flow.four', 6, 50000), ('flow.six', 4, 100001)):
        f = flows[name]
        check(f['completed_messages'] == count and not f['failed_messages'], f'{f}')
        check(f['delivered_bytes'] == count * size, f'{f}')
    naks = sum(f['naks_received'] for f in flows.values())
    again = sum(f['retransmitted_packets'] for f in flows.values())
    check(naks >= 3 and again >= naks, f'{flows}')
    check(kernel['out_of_seq_request'] >= naks, f'{naks} NAKs received, {kernel}')


TESTS = [connects_and_disconnects, is_refused, writes, reads_and_atomics,
         errors_have_their_status, loss_towards_the_model, flows_to_the_program]


def peers():
    """One lab, all of them."""
    source = os.path.join(lab.SOURCE, 'docs/examples/peer.c')
    subprocess.run(['cc', '-O2', '-o', 'peer', source, '-lrdmacm', '-libverbs'], cwd=lab.ROOT,
                   check=True)
    path = os.path.join(lab.ROOT, 'peers.yaml')
    with open(path, 'w', encoding='ascii') as f:
        f.write(FABRIC)
    weft('lab', 'up', path)
    try:
        for t in TESTS:
            print(f'# {t.__name__}', flush=True)
            t()
    finally:
        summary = weft('lab', 'down')
        print(re.sub('^', '# ', summary, flags=re.M), flush=True)
    hosts = lab.hosts_of(summary)
    check(not hosts['h0']['wrong_in'], summary)


def has_headers():
    return not subprocess.run(['cc', '-E', '-'], input=b'#include <rdma/rdma_cma.h>\n', check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode


if __name__ == '__main__':
    if not has_headers():
        print('1..0 # SKIP no headers of librdmacm (scripts/deps install guest)')
        sys.exit(77)
    sys.exit(lab.main([peers]))
