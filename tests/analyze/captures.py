# SPDX-License-Identifier: BSD-3-Clause
"""Captures for the tests of weft analyze: written, read, thinned and cut here, sharing no code with
weft; and scenarios with known faults, whose drops the fabric itself records as an oracle."""
import json
import os
import struct
import subprocess

WEFT = os.environ["WEFT"]
SOURCE = os.environ["WEFT_SOURCE"]


class Frame:
    """A frame of a capture: time in nanoseconds, its bytes, its length on the wire."""

    def __init__(self, t_ns, data, wire=None, iface="", drop=""):
        self.t_ns, self.data, self.wire = t_ns, data, wire or len(data)
        self.iface, self.drop = iface, drop

    @property
    def src(self):
        return ".".join(str(b) for b in self.data[26:30])

    @property
    def opcode(self):
        return self.data[42]

    @property
    def qp(self):
        return int.from_bytes(self.data[47:50], "big")

    @property
    def psn(self):
        return int.from_bytes(self.data[51:54], "big")

    @property
    def syndrome(self):
        return self.data[54]

    def roce(self):
        return len(self.data) >= 54 and self.data[12:14] == b"\x08\x00" and \
            self.data[23] == 17 and self.data[36:38] == b"\x12\xb7"

    def request(self):
        return self.roce() and self.opcode < 13

    def cut(self, snap):
        return Frame(self.t_ns, self.data[:snap], self.wire, self.iface)


def blocks(data):
    at = 0
    while at + 12 <= len(data):
        kind, length = struct.unpack_from("<II", data, at)
        yield kind, data[at + 8:at + length - 4]
        at += length


def options(data):
    while len(data) >= 4:
        code, length = struct.unpack_from("<HH", data)
        if code == 0:
            return
        yield code, data[4:4 + length]
        data = data[4 + (length + 3) // 4 * 4:]


def read(path):
    """The frames of a pcapng file of weft's (nanoseconds, little-endian)."""
    names, out = [], []
    with open(path, "rb") as f:
        data = f.read()
    for kind, body in blocks(data):
        if kind == 1:
            names.append(next((v.decode() for c, v in options(body[8:]) if c == 2), ""))
        elif kind == 6:
            iface, hi, lo, cap, wire = struct.unpack_from("<IIIII", body)
            text = next((v.decode() for c, v in options(body[20 + (cap + 3) // 4 * 4:]) if c == 1), "")
            drop = next((w[5:] for w in text.split() if w.startswith("drop=")), "")
            out.append(Frame(hi << 32 | lo, body[20:20 + cap], wire, names[iface], drop))
    return out


def pcap(frames, snap=262144, link=1):
    out = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, snap, link)
    for f in frames:
        data = f.data[:snap]
        out += struct.pack("<IIII", 1700000000 + f.t_ns // 10**9, f.t_ns % 10**9, len(data),
                           max(f.wire, len(data))) + data
    return out


def pcapng(frames, drops=None):
    """One interface; `drops`: what its statistics block says was not captured, None: no block."""
    def block(kind, body):
        n = struct.pack("<I", len(body) + 12)
        return struct.pack("<I", kind) + n + body + n

    def option(code, data):
        return struct.pack("<HH", code, len(data)) + data + bytes(-len(data) % 4)
    out = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    out += block(1, struct.pack("<HHI", 1, 0, 0) + option(2, b"eth0") + option(9, b"\x09") + bytes(4))
    for f in frames:
        out += block(6, struct.pack("<IIIII", 0, f.t_ns >> 32, f.t_ns & 0xFFFFFFFF, len(f.data),
                                    f.wire) + f.data + bytes(-len(f.data) % 4))
    if drops is not None:
        out += block(5, struct.pack("<III", 0, 0, 0) + option(4, struct.pack("<Q", 99)) +
                     option(5, struct.pack("<Q", drops)) + bytes(4))
    return out


def read_pcap(path):
    """The frames of a file that write() has made."""
    with open(path, "rb") as f:
        data = f.read()
    at, out = 24, []
    while at < len(data):
        sec, ns, cap, wire = struct.unpack_from("<IIII", data, at)
        out.append(Frame(sec * 10**9 + ns, data[at + 16:at + 16 + cap], wire))
        at += 16 + cap
    return out


def write(path, frames, snap=262144, link=1):
    with open(path, "wb") as f:
        f.write(pcap(frames, snap, link))
    return path


def run(text, folder):
    """Run a scenario whose capture files lie in `folder`."""
    done = subprocess.run([WEFT, "run", "--json", "-", "-"], input=text, capture_output=True,
                          text=True, cwd=folder, timeout=100, check=False)
    if done.returncode not in (0, 1):
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def analyze(*args, want=0, **more):
    done = subprocess.run([WEFT, "analyze", "--json", *args], capture_output=True, timeout=100,
                          check=False, **more)
    if done.returncode != want:
        raise AssertionError(f"exit {done.returncode}: {done.stderr.decode()}")
    return json.loads(done.stdout)


def page(*args, want=0):
    done = subprocess.run([WEFT, "analyze", *args], capture_output=True, text=True, timeout=100,
                          check=False)
    if done.returncode != want:
        raise AssertionError(f"exit {done.returncode}: {done.stderr}")
    return done.stdout
