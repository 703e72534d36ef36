#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Real soft-RoCE hosts through a routed fabric: by GIDs of IPv4 and of IPv6, and from VLANs, where
the class comes from the PCP that the hosts' kernels write, and is carried on as DSCP.

    test_paths.py WEFT [NAME...]

77 when there is no QEMU or no image can be built here.
"""
import json
import re
import struct
import sys
import zlib

import test_lab as lab
from test_lab import check, weft

FABRIC = """
capture:
  - {at: "leaf0:p0", file: h0.pcapng}
  - {at: "leaf0:p[1-2]", file: fabric.pcapng}
  - {at: "leaf1:p0", file: h1.pcapng}
"""
VLANS = FABRIC + """
switches:
  "*": {pg: {3: {lossless: true, xoff: 60kB, xon: 40kB}}}
ports:
  # hosts are tagged, and trusted with their PCP; between the leaves there are no tags, but a DSCP
  "leaf*:p0": {trust: pcp, vlan: {mode: trunk, pvid: 0, allowed: [100], svi: 100}}
  "leaf*:p[1-2]": {rewrite: dscp}
"""
# The host's addresses move to a VLAN's interface; soft-RoCE stays on eth0 and gets GIDs for them.
TO_VLAN = """
set -e
for m in llc stp garp mrp 8021q; do modprobe $m; done
ip link add link eth0 name v100 type vlan id 100 egress-qos-map 0:3 1:3 2:3 3:3 4:3 5:3 6:3 7:3
via=$(ip route show default | sed 's/.*via \\([^ ]*\\).*/\\1/')
via6=$(ip -6 route show default | sed 's/.*via \\([^ ]*\\).*/\\1/')
for a in $(ip -o addr show dev eth0 scope global | sed 's/.*inet6\\{0,1\\} \\([^ ]*\\).*/\\1/'); do
  ip addr del $a dev eth0
  case $a in *:*) ip addr add $a dev v100 nodad;; *) ip addr add $a dev v100;; esac
done
ip link set v100 up
ip route replace default via $via dev v100
ip -6 route replace default via $via6 dev v100
"""
GIDS = 'grep . /sys/class/infiniband/rxe0/ports/1/gids/* 2>/dev/null || true'


def gid_indices(host):
    """Index of the GID of each family that is no link-local one: (IPv4, IPv6)."""
    out = weft('exec', '--no-prefix', host, '--', 'sh', '-c', GIDS)
    found = re.findall(r'gids/(\d+):([0-9a-f:]{39})', out)
    four = [int(n) for n, gid in found if gid.startswith('0000:0000:0000:0000:0000:ffff:')]
    six = [int(n) for n, gid in found if gid.startswith('fd00:')]
    check(len(four) == 1 and len(six) == 1, f'{host}: {out}')
    return four[0], six[0]


def together(server, client, pattern):
    """h1 serves, h0 is its client and its output has the pattern."""
    out = weft('exec', '-t', '60s', 'h1', '--', *server, ':::', 'h0', '--', *client, 'h1')
    check(re.search(pattern, out, re.M), out)


def both_tools(n, families):
    h0, h1 = gid_indices('h0'), gid_indices('h1')
    for k in families:
        tool = ['ibv_rc_pingpong', '-d', 'rxe0', '-e', '-m', '1024', '-n', '50', '-g']
        together([*tool, str(h1[k])], [*tool, str(h0[k])], r'^h0\| 50 iters in')
        tool = ['ib_write_bw', '-d', 'rxe0', '-F', '-m', '1024', '-n', str(n), '-x']
        together([*tool, str(h1[k])], [*tool, str(h0[k])], rf'^h0\|\s+65536\s+{n} ')


def parts(frame):
    """(VLAN's TCI or None, EtherType, IP header on)."""
    if frame[12:14] == b'\x81\x00':
        return struct.unpack_from('>H', frame, 14)[0], frame[16:18], frame[18:]
    return None, frame[12:14], frame[14:]


def roce(frame):
    """TCI, DSCP, family, whether its ICRC is right (IBTA A17.9.4.1, by zlib's CRC); None: no
    RoCEv2."""
    tci, kind, ip = parts(frame)
    if kind == b'\x08\x00' and ip[9] == 17 and ip[22:24] == b'\x12\xb7':
        end, ones, dscp = struct.unpack_from('>H', ip, 2)[0], (1, 8, 10, 11, 26, 27, 32), ip[1] >> 2
    elif kind == b'\x86\xdd' and ip[6] == 17 and ip[42:44] == b'\x12\xb7':
        end, ones = 40 + struct.unpack_from('>H', ip, 4)[0], (1, 2, 3, 7, 46, 47, 52)
        dscp = struct.unpack_from('>H', ip)[0] >> 6 & 63
    else:
        return None
    masked = bytearray(b'\xff' * 8 + ip[:end - 4])
    for at in ones:
        masked[8 + at] = 0xff
    if kind == b'\x86\xdd':
        masked[8] |= 0x0f
    good = struct.pack('<I', zlib.crc32(masked)) == ip[end - 4:end]
    return tci, dscp, 4 if kind == b'\x08\x00' else 6, good


def rows_of(name):
    rows = [r for r in (roce(f) for _, f in lab.captured(name)) if r]
    wrong = sum(not r[3] for r in rows)
    check(len(rows) > 500 and not wrong, f'{name}: {len(rows)} RoCEv2 frames, {wrong} ICRCs wrong')
    return rows


def rx_by_priority(port):
    rows = json.loads(weft('show', 'priorities', '--json'))['rows']
    found = {r['name']: r for r in rows}
    return [found.get(f'{port}.prio{p}', {}).get('rx_frames', 0) for p in range(8)]


def gids_of_both_families():
    path = lab.scenario('gids', '  "*": {mtu: 1500, attach: {type: vhost_user}}', more=FABRIC)
    weft('lab', 'up', path)
    try:
        both_tools(10, (0, 1))
    finally:
        weft('lab', 'down')
    for name in ('h0.pcapng', 'fabric.pcapng', 'h1.pcapng'):
        rows = rows_of(name)
        for family in (4, 6):
            check(sum(r[2] == family for r in rows) > 500, f'{name}: few of IPv{family}')


def fc_O2_vlans_with_pcp():
    path = lab.scenario('vlans', '  "*": {mtu: 1500, attach: {type: vhost_user}}', more=VLANS)
    weft('lab', 'up', path)
    try:
        weft('exec', 'h0', 'h1', '--', 'sh', '-c', TO_VLAN)
        both_tools(10, (0, 1))
        counted = rx_by_priority('leaf0:p0')
    finally:
        summary = weft('lab', 'down')
    for name in ('h0.pcapng', 'h1.pcapng'):
        odd = [r[:2] for r in rows_of(name) if r[0] != 3 << 13 | 100]
        check(not odd, f'{name}: not of VLAN 100 with PCP 3: {odd[:5]}')
    # between the leaves: no tag, and the class as DSCP, which the hosts did not set
    odd = [r[:2] for r in rows_of('fabric.pcapng') if r[:2] != (None, 24)]
    check(not odd, f'fabric.pcapng: not untagged with DSCP 24: {odd[:5]}')
    sent = sum(1 for _, f in lab.captured('h0.pcapng') if roce(f) and f[6:12] == b'\x02\0\0\0\0\x01')
    check(counted[3] >= sent > 500, f'{counted}, {sent} sent\n{summary}')
    check(sum(counted) - counted[3] < 30, f'{counted}\n{summary}')  # ND of eth0, before


if __name__ == '__main__':
    sys.exit(lab.main([gids_of_both_families, fc_O2_vlans_with_pcp]))
