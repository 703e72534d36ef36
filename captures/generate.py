#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the golden captures of this folder, byte for byte the same each time.

It shares no code with weft: headers are packed here and the ICRC comes from zlib, so that the
captures are an independent check of weft's own formats. usage: generate.py [FOLDER]
"""
import struct
import sys
import zlib
from pathlib import Path

MAC = [bytes.fromhex(f"02c0ffee00{i:02x}") for i in range(8)]
BASE_S = 1_700_000_000


def ip_sum(header):
    s = sum(struct.unpack(f"!{len(header) // 2}H", header))
    while s >> 16:
        s = (s & 0xFFFF) + (s >> 16)
    return ~s & 0xFFFF


def ipv4(src, dst, proto, body, tos=0, ident=0):
    h = struct.pack("!BBHHHBBH4s4s", 0x45, tos, 20 + len(body), ident, 0x4000, 64, proto, 0,
                    bytes(src), bytes(dst))
    return h[:10] + struct.pack("!H", ip_sum(h)) + h[12:] + body


def ipv6(src, dst, nxt, body, tc=0, hops=64):
    return struct.pack("!IHBB16s16s", 6 << 28 | tc << 20, len(body), nxt, hops, src, dst) + body


def icrc(ip_packet, v6=False):
    """Over the packet with what a switch may change set to ones, eight bytes of ones before it."""
    p = bytearray(ip_packet)
    if v6:
        p[0] |= 0x0F
        p[1:4] = b"\xff" * 3
        p[7] = 0xFF
        udp = 40
    else:
        p[1] = p[8] = p[10] = p[11] = 0xFF
        udp = 20
    p[udp + 6] = p[udp + 7] = 0xFF
    p[udp + 8 + 4] = 0xFF
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + bytes(p)))


def bth(opcode, qp, psn, ack=False, pad=0, becn=False, pkey=0xFFFF, se=False):
    return struct.pack("!BBHII", opcode, se << 7 | pad << 4, pkey, becn << 30 | qp,
                       ack << 31 | psn)


def rocev2(src, dst, sport, transport, tos=0x02, ident=0):
    """IPv4 from transport (BTH on, without ICRC); src and dst are four numbers."""
    udp = struct.pack("!HHHH", sport, 4791, 8 + len(transport) + 4, 0)
    p = ipv4(src, dst, 17, udp + transport + b"\0\0\0\0", tos, ident)
    return p[:-4] + icrc(p[:-4])


def eth(dst, src, ethertype, body, vlan=None):
    tag = struct.pack("!HH", 0x8100, vlan) if vlan is not None else b""
    frame = dst + src + tag + struct.pack("!H", ethertype) + body
    return frame + bytes(max(0, 60 - len(frame)))


def payload(n, seed):
    return bytes((seed * 31 + i * 7) & 0xFF for i in range(n))


# ---- containers ----

def pcap(frames, order="<", nano=False, snap=262144):
    out = struct.pack(order + "IHHiIII", 0xA1B23C4D if nano else 0xA1B2C3D4, 2, 4, 0, 0, snap, 1)
    for t_ns, data in frames:
        frac = t_ns % 10**9
        cut = data[:snap]
        out += struct.pack(order + "IIII", BASE_S + t_ns // 10**9, frac if nano else frac // 1000,
                           len(cut), len(data)) + cut
    return out


def block(kind, body, order="<"):
    body += bytes(-len(body) % 4)
    n = struct.pack(order + "I", len(body) + 12)
    return struct.pack(order + "I", kind) + n + body + n


def option(code, data, order="<"):
    return struct.pack(order + "HH", code, len(data)) + data + bytes(-len(data) % 4)


def pcapng(ifaces, packets, order="<"):
    """ifaces: (name, power of ten); packets: (iface, ticks, data, comment)."""
    out = block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1), order)
    for name, digits in ifaces:
        out += block(1, struct.pack(order + "HHI", 1, 0, 0) + option(2, name.encode(), order) +
                     option(9, bytes([digits]), order) + bytes(4), order)
    for iface, ticks, data, comment in packets:
        body = struct.pack(order + "IIIII", iface, ticks >> 32, ticks & 0xFFFFFFFF, len(data),
                           len(data)) + data + bytes(-len(data) % 4)
        if comment:
            body += option(1, comment.encode(), order) + bytes(4)
        out += block(6, body, order)
    return out


# ---- what is in them ----

A, B, C = (192, 0, 2, 4), (192, 0, 2, 6), (192, 0, 2, 9)


def arp(op, src, dst):
    target = dst if op == 2 else None
    mac = {A: MAC[4], B: MAC[6], C: MAC[1]}
    body = struct.pack("!HHBBH", 1, 0x0800, 6, 4, op) + mac[src] + bytes(src)
    body += (mac[dst] if target else bytes(6)) + bytes(dst)
    return eth(mac[dst] if target else b"\xff" * 6, mac[src], 0x0806, body)


def sends():
    """Two RDMA hosts: 32 messages of two packets (SEND First, SEND Last with immediate), each
    acknowledged; an ARP exchange before; a third host that only speaks multicast."""
    t, out = 0, []

    def add(frame, gap_ns):
        nonlocal t
        t += gap_ns
        out.append((t, frame))

    src, dst = (bytes.fromhex(x) for x in ("fe80" + "00" * 13 + "01", "ff02" + "00" * 13 + "02"))
    solicit = struct.pack("!BBHI", 133, 0, 0, 0)
    solicit = struct.pack("!BBHI", 133, 0, ip_sum(src + dst + struct.pack("!II", 8, 58) + solicit),
                          0)
    add(eth(bytes.fromhex("333300000002"), MAC[1], 0x86DD, ipv6(src, dst, 58, solicit, hops=255)), 0)
    add(arp(1, A, B), 1_000_000)
    add(arp(2, B, A), 100_000)
    psn_b, psn_a = 0xFFFFF0, 100
    for i in range(32):
        first = bth(0x00, 69, psn_b) + payload(1024, i)
        last = bth(0x03, 69, psn_b + 1 & 0xFFFFFF, ack=True, se=True)
        last += struct.pack("!I", i) + payload(1024 if i < 31 else 476, i + 1)
        add(eth(MAC[4], MAC[6], 0x0800, rocev2(B, A, 72, first, ident=2 * i)), 9_000)
        add(eth(MAC[4], MAC[6], 0x0800, rocev2(B, A, 72, last, ident=2 * i + 1)), 2_000)
        ack = bth(0x11, 72, psn_b + 1 & 0xFFFFFF) + struct.pack("!I", 0x1F000000 | i + 1)
        # one recorded time goes back by 1 us, as in real captures
        add(eth(MAC[6], MAC[4], 0x0800, rocev2(A, B, 69, ack, ident=i)), -1_000 if i == 7 else 15_000)
        psn_b = psn_b + 2 & 0xFFFFFF
    add(eth(MAC[6], MAC[4], 0x0800,
            rocev2(A, B, 69, bth(0x05, 72, psn_a, ack=True) + struct.pack("!I", 1) + payload(16, 0))),
        1_000_000)
    ack = bth(0x11, 69, psn_a) + struct.pack("!I", 0x1F000001)
    add(eth(MAC[4], MAC[6], 0x0800, rocev2(B, A, 72, ack, ident=99)), 20_000)
    return out


def write_vlan_ecn():
    """WRITE over the PSN wrap in priority 3 of VLAN 100, CE on two, CNP, ACK, NAK, RNR NAK."""
    vlan = 3 << 13 | 100
    reth = struct.pack("!QII", 0x7F0000001000, 0x1234, 3072)
    out = []

    def data(opcode, psn, body, tos=0x6A, ack=False):
        pad = -len(body) % 4
        return eth(MAC[4], MAC[6], 0x0800,
                   rocev2(B, A, 49152, bth(opcode, 0x11, psn, ack=ack, pad=pad) + body +
                          bytes(pad), tos), vlan)

    def back(opcode, psn, body, tos=0x6A, becn=False):
        return eth(MAC[6], MAC[4], 0x0800,
                   rocev2(A, B, 49153, bth(opcode, 0x12, psn, becn=becn) + body, tos), vlan)

    frames = [
        data(0x06, 0xFFFFFE, reth + payload(1024, 1)),
        data(0x07, 0xFFFFFF, payload(1024, 2), tos=0x6B),
        data(0x08, 0x000000, payload(1024, 3), tos=0x6B, ack=True),
        back(0x81, 0, bytes(16), tos=0xC2, becn=True),
        back(0x11, 0x000000, struct.pack("!I", 0x1F000001)),
        data(0x04, 0x000002, payload(5, 4)),
        back(0x11, 0x000001, struct.pack("!I", 0x60000001)),
        back(0x11, 0x000001, struct.pack("!I", 0x2E000001)),
    ]
    for i, f in enumerate(frames):
        out.append((i * 3_000, f))
    return out


def over_ipv6():
    """SEND Only with 0, 1, 2 and 3 bytes of padding over IPv6."""
    src = bytes.fromhex("20010db8000000000000000000000004")
    dst = bytes.fromhex("20010db8000000000000000000000006")
    out = []
    for pad in range(4):
        t = bth(0x04, 0x15, pad, ack=True, pad=pad) + payload(64 - pad, pad) + bytes(pad)
        udp = struct.pack("!HHHH", 50000, 4791, 8 + len(t) + 4, 0xBEEF)
        p = ipv6(src, dst, 17, udp + t + b"\0\0\0\0", tc=0x6A)
        out.append((pad * 1_500, eth(MAC[6], MAC[4], 0x86DD, p[:-4] + icrc(p[:-4], v6=True))))
    return out


def jumbo():
    """RDMA WRITE at path MTU 4096: frames of 4,170 and 4,154 bytes."""
    reth = struct.pack("!QII", 0x1000, 7, 8192)
    return [(0, eth(MAC[4], MAC[6], 0x0800,
                    rocev2(B, A, 60000, bth(0x06, 9, 1) + reth + payload(4096, 1)))),
            (700, eth(MAC[4], MAC[6], 0x0800,
                      rocev2(B, A, 60000, bth(0x08, 9, 2, ack=True) + payload(4096, 2))))]


def small():
    """Three frames with times that need nanoseconds."""
    ack = bth(0x11, 5, 1) + struct.pack("!I", 0x1F000001)
    return [(1, arp(1, A, C)), (1_000_000_999, arp(2, C, A)),
            (1_000_002_345, eth(MAC[6], MAC[4], 0x0800, rocev2(A, B, 0, ack)))]


def backwards():
    f = small()
    return [(5_000_000, f[0][1]), (4_999_000, f[1][1]), (5_001_000, f[2][1])]


def main():
    to = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    damaged = [(t, f[:-1] + bytes([f[-1] ^ 0x55])) for t, f in jumbo()[:1]]
    s = small()
    files = {
        "rocev2-sends.pcap": pcap(sends()),
        "rocev2-vlan-ecn-cnp.pcap": pcap(write_vlan_ecn()),
        "rocev2-ipv6.pcap": pcap(over_ipv6(), nano=True),
        "rocev2-4k.pcap": pcap(jumbo()),
        "rocev2-4k-snap64.pcap": pcap(jumbo(), snap=64),
        "rocev2-bad-icrc.pcap": pcap(damaged),
        "fmt-be-us.pcap": pcap(small(), order=">"),
        "fmt-be-ns.pcap": pcap(small(), order=">", nano=True),
        "fmt-le-ns.pcap": pcap(small(), nano=True),
        "fmt-time-backwards.pcap": pcap(backwards()),
        "fmt-cut.pcap": pcap(small())[:-10],
        "fmt-le-ps.pcapng": pcapng([("h0", 12), ("h1", 9)],
                                   [(0, 1_000_000_000_007, s[0][1], "point=h0"),
                                    (1, 1_000_000_500, s[1][1], "point=h1")]),
        "fmt-be.pcapng": pcapng([("eth0", 6)], [(0, BASE_S * 10**6 + 5, s[0][1], None)], order=">"),
    }
    for name, data in files.items():
        (to / name).write_bytes(data)


if __name__ == "__main__":
    main()
