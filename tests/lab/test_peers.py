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
import time

import test_lab as lab
from test_lab import check, hw_counters, weft

PORT, OTHER, TWICE, SWAPPED, SENT, CALM, LOSSY, UD4, UD6, RPING, RPING6 = range(7174, 7185)
SIZE = 1 << 20  # memory of h3, and of the program
FABRIC = """weft: 1
name: peers
topology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 3}
links:
  "*": {rate: 1Gbps, delay: 1us}
hosts:
  h0: {mtu: 4200, attach: {type: vhost_user}}
  h1: {mtu: 4200, listen: {port: 7174, memory: 256KiB, pattern: 77, recv: echo}}
  h2: {mtu: 4200, listen: {port: 7174, memory: 64KiB, recv: rping}}
  h3: {mtu: 4200, listen: {port: 7174, memory: 1MiB, recv: sink}}
  h4: {mtu: 4200, listen: {port: 7174, refuse: 28}}
workload:
  - {name: four, from: h5, to: h0, connect: 7175, connect_wait: 400s, size: 50000B, count: 6,
     path_mtu: 1024}
  - {name: six, from: h2, to: h0, connect: 7175, connect_wait: 400s, size: 100001B, count: 4,
     path_mtu: 4096, family: ip6}
  - {name: twice, from: h5, to: h0, connect: 7176, connect_wait: 400s, size: 50001B, count: 20,
     path_mtu: 1024}
  - {name: swapped, from: h2, to: h0, connect: 7177, connect_wait: 400s, size: 100000B, count: 10,
     path_mtu: 1024, family: ip6}
  - {name: sent, from: h5, to: h0, connect: 7178, connect_wait: 400s, size: 4001B, count: 40,
     path_mtu: 1024, op: send_imm}
  - {name: ud4, from: h5, to: h0, connect: 7181, connect_wait: 400s, service: ud, op: send_imm,
     size: 1001B, count: 40, path_mtu: 1024}
  - {name: ud6, from: h2, to: h0, connect: 7182, connect_wait: 400s, service: ud, op: send,
     size: 4095B, count: 40, path_mtu: 4096, family: ip6}
  - {name: udaddy, from: h5, to: h0, connect: 7174, connect_wait: 400s, service: ud, op: send_imm,
     size: 100B, count: 10, path_mtu: 1024}
  - {name: rping, from: h5, to: h0, connect: 7183, connect_wait: 400s, program: rping, size: 64B,
     count: 20, path_mtu: 1024}
  - {name: rping6, from: h2, to: h0, connect: 7184, connect_wait: 400s, program: rping,
     size: 30001B, count: 20, path_mtu: 1024, family: ip6}
%s
capture:
  - {at: "leaf0:p0", file: peers.pcapng}
  - {at: "leaf1:p0", file: h3.pcapng}
"""
# what flows do at the program: (size, messages)
OPS = {'read': (30001, 12), 'write_imm': (5001, 40), 'send_imm': (4001, 40), 'fetch_add': (8, 100),
       'cmp_swap': (8, 100)}
FABRIC %= '\n'.join(
    f'  - {{name: {op}_{port}, from: {host}, to: h0, connect: {port}, connect_wait: 400s, op: {op},\n'
    f'     size: {size}B, count: {count}, path_mtu: {mtu}, family: {family}}}'
    for port, host, mtu, family in ((CALM, 'h2', 4096, 'ip6'), (LOSSY, 'h5', 1024, 'ip4'))
    for op, (size, count) in OPS.items())


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
            check(more['rx_messages'] == 1 and more['rx_bytes'] >= SIZE, f'{address}: {more}')
            check(more['right_bytes'] == SIZE and not more['wrong_bytes'], f'{address}: {more}')
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
    weft('exec', 'h0', '--', 'ip', 'link', 'set', 'eth0', 'mtu', '1500')
    weft('inject', 'drop', '--at', 'leaf1:p0', '--every', '97')
    before, seen = hw_counters('h0'), len(list(packets('peers.pcapng')))
    more = [asks('10.1.0.1', PORT, 'write') for _ in range(2)]
    weft('inject', 'end', '--at', 'leaf1:p0')
    kernel = grown(before, hw_counters('h0'))
    naks = sum(m['naks_sent'] for m in more)
    check(all(m['right_bytes'] == SIZE and not m['wrong_bytes'] for m in more), f'{more}')
    # path MTU 1024: 1,024 packets a message, so 21 are lost at least; a lost NAK has no twin
    check(naks >= 10, f'{more}')
    heard_or_late('peers.pcapng', seen, naks, kernel)


def flows_to_the_program():
    """Two model hosts ask the program at the same time, one of them through losses."""
    weft('exec', 'h0', '--', 'ip', 'link', 'set', 'eth0', 'mtu', '4200')
    weft('inject', 'drop', '--at', 'leaf0:p0', '--every', '97')
    before = hw_counters('h0')
    out = peer('listen', OTHER, 2)
    weft('inject', 'end', '--at', 'leaf0:p0')
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


def packets(name):
    """Of a capture, what is of reliable connections: (who, opcode, PSN, what is behind the BTH)."""
    for _, f in lab.captured(name):
        ip4 = f[12:14] == b'\x08\x00'
        udp = 34 if ip4 else 54
        if f[23 if ip4 else 20] == 17 and f[udp + 2:udp + 4] == b'\x12\xb7' and f[udp + 8] < 0x20:
            bth = f[udp + 8:]
            yield ((f[30:34] if ip4 else f[38:54]) + bth[5:8], bth[0],
                   int.from_bytes(bth[9:12], 'big'), bth[12:28])


def is_request(opcode):
    return opcode <= 12 or opcode in (19, 20)


def psns(opcode, ext, mtu):
    """A READ takes as many as its answer has packets."""
    return max(1, -(-int.from_bytes(ext[12:16], 'big') // mtu)) if opcode == 12 else 1


def responder(seen, mtu=1024):
    """What a responder has to count of requests that come like this (IBA 9.7.5.1.2): packets that
    it has, and gaps; and how many NAKs of PSN sequence errors went by, of whomever."""
    expected, told, again, gaps, naks = {}, set(), 0, 0, 0
    for who, opcode, psn, ext in seen:
        if is_request(opcode):
            ahead = psn - expected.setdefault(who, psn) & 0xffffff
            if not ahead:
                expected[who] = psn + psns(opcode, ext, mtu) & 0xffffff
                told.discard(who)
            elif ahead >= 1 << 23:
                again += 1
            elif who not in told:
                told.add(who)
                gaps += 1
        naks += opcode == 17 and ext[0] == 0x60
    return again, gaps, naks


def restarts(seen):
    """How often a requester went back, by a NAK that it heard or by its own timer."""
    last, n = {}, 0
    for who, opcode, psn, _ in seen:
        if is_request(opcode):
            n += psn - last.setdefault(who, psn - 1) - 1 & 0xffffff >= 1 << 23
            last[who] = psn
    return n


def heard_or_late(name, seen, naks, kernel):
    """The kernel does not count a NAK that finds it sending again by its own timer: each that it
    does not count has such a restart, as many as it likes on a slow machine."""
    for _ in range(50):
        again = restarts(list(packets(name))[seen:])
        if naks <= again:
            break
        time.sleep(0.1)
    check(kernel['rcvd_seq_err'] <= naks <= again, f'{naks} NAKs, {again} restarts, {kernel}')


def sends():
    """Taken at one end, sent back at the other, through losses; and what a model sends."""
    count, size = 8, sum((3 ** n - 1) // 2 for n in range(1, 9))
    for where, address in (('leaf1:p0', '10.1.0.1'), ('leaf0:p1', '10.0.0.2'),
                           ('leaf0:p1', 'fd00::2')):
        weft('inject', 'end', '--at', where)
        weft('inject', 'drop', '--at', where, '--opcode', 'send_first,send_only', '--every', '3')
        more = asks(address, PORT, 'send')
        weft('inject', 'end', '--at', where)
        echoed = 0 if address == '10.1.0.1' else count
        check(more['received_messages'] == more['rx_messages'] == count, f'{address}: {more}')
        check(more['right_bytes'] == size and not more['wrong_bytes'], f'{address}: {more}')
        check(more['echoed_messages'] == echoed, f'{address}: {more}')
    out = peer('listen', SENT, 1)
    check('40 SENDs, 160040 of 160040 bytes' in out and 'FAILED' not in out, out)
    f = rows('flows')['flow.sent']
    check(f['completed_messages'] == 40 and not f['failed_messages'], f'{f}')


def flows_of_all_operations(port, mtu):
    """Five model hosts' flows, one after the other at the program. What either end holds of the
    other is what it has to be, and the kernel counts what the packets that crossed call for."""
    weft('exec', 'h0', '--', 'ip', 'link', 'set', 'eth0', 'mtu', '4200')
    before, seen = hw_counters('h0'), len(list(packets('peers.pcapng')))
    out = peer('listen', port, len(OPS))
    kernel = grown(before, hw_counters('h0'))
    check('FAILED' not in out, out)
    for line in ('1048576 of 1048576 bytes are the pattern that was read',
                 '200040 of 200040 bytes are the peer', 'immediate data of 40 of 40',
                 '40 SENDs, 160040 of 160040 bytes are the peer', 'the word that 100 atomics leave'):
        check(line in out, f'not said: {line}\n{out}')
    check(out.count('the word that') == 2 and out.count('immediate data') == 2, out)
    flows = {op: rows('flows')[f'flow.{op}_{port}'] for op in OPS}
    for op, (size, count) in OPS.items():
        f = flows[op]
        brings = op in ('read', 'fetch_add', 'cmp_swap')
        check(f['completed_messages'] == count and not f['failed_messages'], f'{op}: {f}')
        check(f['right_bytes'] == brings * size * count and not f['wrong_bytes'], f'{op}: {f}')
    counted = kernel['duplicate_request'], kernel['out_of_seq_request']
    for _ in range(50):  # the file may lag behind a little
        found = responder(list(packets('peers.pcapng'))[seen:], mtu)
        if found[:2] == counted:
            break
        time.sleep(0.1)
    check(found[:2] == counted, f'{counted} counted, {found} on the wire')
    return {c: sum(f[c] for f in flows.values()) for c in ('tx_packets', 'retransmitted_packets',
                                                           'naks_received', 'timeouts')}, found[2]


def flows_do_all_operations():
    flows, naks = flows_of_all_operations(CALM, 4096)
    first = flows['tx_packets'] - flows['retransmitted_packets']
    check(first == 12 + 40 * 2 + 40 + 2 * 100 and not naks, f'{naks} NAKs, {flows}')
    check(flows['timeouts'] or not flows['retransmitted_packets'], f'{flows}')


def flows_do_all_operations_through_losses():
    """The connection manager's datagrams and what READs bring among them; before the capture."""
    weft('inject', 'drop', '--at', 'spine0:p0', '--class', 'roce', '--every', '23')
    weft('inject', 'drop', '--at', 'leaf1:p2', '--class', 'roce', '--every', '23')
    try:
        flows, naks = flows_of_all_operations(LOSSY, 1024)
    finally:
        for where in ('spine0:p0', 'leaf1:p2'):
            weft('inject', 'end', '--at', where)
    check(naks >= flows['naks_received'] >= 3, f'{naks} NAKs, {flows}')
    check(flows['retransmitted_packets'] >= flows['naks_received'], f'{flows}')


def datagrams():
    """Found by SIDR_REQ, both ways, and back again: by the lab's program, which looks into each,
    and by udaddy, which is not ours. Behind 40 bytes each, or the program would have told."""
    weft('exec', 'h0', '--', 'ip', 'link', 'set', 'eth0', 'mtu', '4200')
    size = sum(1 + i * 37 % 1024 for i in range(50))
    for host, address in (('h1', '10.0.0.2'), ('h1', 'fd00::2'), ('h3', '10.1.0.1')):
        before = rows('endpoints')[host]
        out = peer('datagrams', address, PORT, 50)
        more = grown(before, rows('endpoints')[host])
        check('Q_Key 0x1234567,' in out and '50 of 50 datagrams are as announced' in out, out)
        check(more['cm_resolved_events'] == 1 and more['received_messages'] == 50, f'{more}')
        check(more['echoed_messages'] == (50 if host == 'h1' else 0), f'{more}')
        check(more['rx_bytes'] == more['right_bytes'] == size and not more['wrong_bytes'], f'{more}')
    for name, port, size in (('ud4', UD4, 1001), ('ud6', UD6, 4095)):
        out = peer('echo', port, 40)
        check('40 of 40 datagrams are as announced' in out, out)
        f = rows('flows')['flow.' + name]
        check(f['completed_messages'] == f['received_messages'] == 40, f'{f}')
        check(f['right_bytes'] == 40 * size and not f['wrong_bytes'], f'{f}')


def udaddy():
    before = rows('endpoints')['h1']
    out = weft('exec', '-t', '60s', '--no-prefix', 'h0', '--', 'udaddy', '-s', '10.0.0.2', '-C', '30',
               '-S', '1000')
    more = grown(before, rows('endpoints')['h1'])
    check('data transfers complete' in out and 'return status 0' in out, out)
    check(more['received_messages'] == more['echoed_messages'] == 30, f'{more}')
    check(more['rx_bytes'] == 30000, f'{more}')
    out = weft('exec', '-t', '60s', '--no-prefix', 'h0', '--', 'udaddy', '-b', '10.0.0.1')
    check('data transfers complete' in out and 'return status 0' in out, out)
    f = rows('flows')['flow.udaddy']
    check(f['completed_messages'] == f['received_messages'] == 10, f'{f}')


def rping():
    """Client and server, which look into what comes back."""
    for address, size in (('10.0.0.3', 64), ('fd00::3', 30000)):
        before = rows('endpoints')['h2']
        out = weft('exec', '-t', '60s', '--no-prefix', 'h0', '--', 'rping', '-c', '-a', address, '-V',
                   '-C', '20', '-S', str(size))
        more = grown(before, rows('endpoints')['h2'])
        check('mismatch' not in out and 'rror' not in out, out)
        check(more['echoed_messages'] == 20 and more['received_messages'] == 40, f'{more}')
        check(more['cm_disconnected_events'] == 1, f'{more}')
    for name, port, size, more in (('rping', RPING, 64, ()),
                                   ('rping6', RPING6, 30001, ('-a', '::0', '-S', '30001'))):
        weft('exec', '-t', '60s', '--no-prefix', 'h0', '--', 'rping', '-s', '-p', str(port), *more)
        f = rows('flows')['flow.' + name]
        check(f['completed_messages'] == 20 and not f['failed_messages'], f'{f}')
        check(f['right_bytes'] == 20 * size and not f['wrong_bytes'], f'{f}')


def nobody_serves_datagrams():
    out = peer('datagrams', '10.1.0.1', PORT + 1, 1, status=1)
    check('no service: RDMA_CM_EVENT_UNREACHABLE, status 1' in out, out)


class Fault:
    """Packets of requests meet it while the block lasts. Then: how many it hit, how the kernel's
    counters grew, what a responder has to have counted of all that came out of the port."""
    def __init__(self, what, port, source, every, opcode='write_middle'):
        self.name = {'leaf0:p0': 'peers.pcapng', 'leaf1:p0': 'h3.pcapng'}[port]
        self.what, self.port = what, port
        self.keys = ('--from', source, '--opcode', opcode, '--every', str(every))

    def hits(self):
        return sum(int(r['hit_frames'])
                   for r in json.loads(weft('show', '--json', 'faults'))['rows']
                   if (r['action'], r['name']) == (self.what, self.port))

    def __enter__(self):
        weft('inject', 'end', '--at', self.port)
        self.kernel, self.hit = hw_counters('h0'), self.hits()
        self.before = len(list(packets(self.name)))
        weft('inject', self.what, '--at', self.port, *self.keys)
        return self

    def __exit__(self, *failure):
        weft('inject', 'end', '--at', self.port)
        if not failure[0]:
            self.hit = self.hits() - self.hit
            self.kernel = grown(self.kernel, hw_counters('h0'))

    def settle(self, *counted):
        """The packets as captured have to come to this; the file may lag behind a little."""
        for _ in range(50):
            found = responder(list(packets(self.name))[self.before:])
            if found == counted:
                break
            time.sleep(0.1)
        check(found == counted, f'{self.what}: {counted} counted, {found} on the wire')


def the_program_is_duplicated():
    """Each duplicate of a request is counted once by the model, acknowledged, and does nothing."""
    weft('exec', 'h0', '--', 'ip', 'link', 'set', 'eth0', 'mtu', '1500')
    for address in ('10.1.0.1', 'fd00:1::1'):
        with Fault('duplicate', 'leaf1:p0', 'h0', 10) as fault:
            more = asks(address, PORT, 'write')
        # what the kernel sends again by its own timer, on a slow machine, comes on top
        again = more['duplicates_received']
        check(1022 // 10 <= fault.hit <= again, f'{fault.hit} hit, {more}')
        check(more['right_bytes'] == SIZE and not more['wrong_bytes'], f'{more}')
        check(more['rx_messages'] == 1 and more['rx_bytes'] == SIZE, f'{more}')
        fault.settle(again, 0, 0)
        check(not fault.kernel['rcvd_seq_err'], f'{fault.kernel}')
    with Fault('duplicate', 'leaf1:p0', 'h0', 1, 'read_request') as fault:
        more = asks('10.1.0.1', PORT, 'read')
    # the kernel asks for the rest again when an answer comes twice; all but the first are had
    again = more['duplicates_received']
    check(fault.hit and again == 2 * fault.hit - 1, f'{fault.hit} hit, {more}')


def the_program_is_reordered():
    """Two that change places are a gap, sent again from there: the model tells of each, the kernel
    hears of each, and what is behind is counted as what it is."""
    for address in ('10.1.0.1', 'fd00:1::1'):
        with Fault('reorder', 'leaf1:p0', 'h0', 50) as fault:
            more = asks(address, PORT, 'write')
        check(fault.hit >= 1022 // 50, f'{fault.hit} hit')
        check(more['right_bytes'] == SIZE and not more['wrong_bytes'], f'{more}')
        check(more['rx_messages'] == 1 and more['rx_bytes'] == SIZE, f'{more}')
        naks = more['naks_sent']
        fault.settle(more['duplicates_received'], naks, naks)
        check(naks >= 15, f'{more}')
        heard_or_late(fault.name, fault.before, naks, fault.kernel)


def program_listens(name, count, size):
    out = peer('listen', {'twice': TWICE, 'swapped': SWAPPED}[name], 1)
    check(f'{count * size} of {count * size} bytes' in out and 'FAILED' not in out, out)
    f = rows('flows')['flow.' + name]
    check(f['completed_messages'] == count and f['delivered_bytes'] == count * size, f'{f}')
    return f


def the_flow_is_duplicated():
    """The other way round: the kernel counts the duplicates, and the model is not moved by answers
    that it has had."""
    weft('exec', 'h0', '--', 'ip', 'link', 'set', 'eth0', 'mtu', '4200')
    with Fault('duplicate', 'leaf0:p0', 'h5', 10) as fault:
        f = program_listens('twice', 20, 50001)
    again, gaps = (fault.kernel[k] for k in ('duplicate_request', 'out_of_seq_request'))
    check(fault.hit >= 20 * 47 // 10, f'{fault.hit} hit')
    # what a slow guest had to be asked again comes on top
    check(again >= fault.hit and (f['timeouts'] or again == fault.hit), f'{fault.hit} hit, {again}')
    fault.settle(again, gaps, f['naks_received'])


def the_flow_is_reordered():
    with Fault('reorder', 'leaf0:p0', 'h2', 50) as fault:
        f = program_listens('swapped', 10, 100000)
    again, gaps = (fault.kernel[k] for k in ('duplicate_request', 'out_of_seq_request'))
    check(fault.hit >= 10 * 96 // 50 and gaps >= 15, f'{fault.hit} hit, {gaps} gaps')
    check(f['timeouts'] or f['naks_received'] == gaps, f'{gaps} gaps, {f}')
    check(f['retransmitted_packets'] >= gaps, f'{gaps} gaps, {f}')
    fault.settle(again, gaps, gaps)


TESTS = [connects_and_disconnects, is_refused, writes, reads_and_atomics,
         errors_have_their_status, loss_towards_the_model, flows_to_the_program,
         sends, flows_do_all_operations, flows_do_all_operations_through_losses,
         datagrams, udaddy, rping, nobody_serves_datagrams, the_program_is_duplicated, the_program_is_reordered, the_flow_is_duplicated,
         the_flow_is_reordered]


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
