#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`weft lab` from end to end, as people use it: real soft-RoCE stacks across two leaves and two
spines. Every lab is taken down and nothing may be left of it: no process, socket, file, namespace.

    test_lab.py WEFT [NAME...]

77 when there is no QEMU or no image can be built here.
"""
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib

WEFT = os.path.abspath(sys.argv[1])
SOURCE = os.path.abspath(os.environ.get('WEFT_SOURCE', '.'))
ROOT = tempfile.mkdtemp(prefix='weft-test-lab.')
ENV = dict(os.environ, XDG_RUNTIME_DIR=ROOT)

FABRIC = """weft: 1
name: {name}
topology: {{kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: {per_leaf}}}
links:
  "*": {{rate: 1Gbps, delay: 1us}}
hosts:
{hosts}
"""


class Failed(Exception):
    pass


def check(condition, what):
    if not condition:
        raise Failed(what)


def weft(*args, status=0, timeout=150, **more):
    """Run weft; its output, both streams. Any other exit status is a failure."""
    done = subprocess.run([WEFT, *args], cwd=ROOT, env=more.pop('env', ENV), timeout=timeout,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors='replace', check=False)
    check(done.returncode == status,
          f'weft {" ".join(args)}: exit status {done.returncode}, not {status}:\n{done.stdout}')
    return done.stdout


def scenario(name, hosts, per_leaf=1, more=''):
    path = os.path.join(ROOT, name + '.yaml')
    with open(path, 'w', encoding='ascii') as f:
        f.write(FABRIC.format(name=name, hosts=hosts, per_leaf=per_leaf) + more)
    return path


def processes(word):
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/cmdline', 'rb') as f:
                if word.encode() in f.read() and int(pid) != os.getpid():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def nothing_left():
    home = os.path.join(ROOT, f'weft-{os.getuid()}')
    left = os.listdir(home) if os.path.isdir(home) else []
    check(not left, f'left in {home}: {left}')
    # QEMU's command line names the instance's directory
    check(not processes(home), f'processes left: {processes(home)}')


def two_guests():
    path = scenario('two', '  "*": {mtu: 4200, attach: {type: vhost_user}}', more=(
        'capture:\n  - {at: "leaf0:p0", file: h0.pcapng}\n'
        '  - {at: "leaf1:p0", file: h1.pcapng}\n'))
    out = weft('lab', 'up', path)
    check('h1       in guest h1' in out, out)
    try:
        check("instance 'two' is running already" in weft('lab', 'up', path, status=3), 'second up')
        out = weft('exec', '-t', '60s', 'h0', 'h1', '--', 'ibv_devinfo')
        check(len(re.findall(r'active_mtu:\s*4096', out)) == 2, out)
        command = ['ib_write_bw', '-d', 'rxe0', '-n', '50', '-F', '--tclass=106']
        out = weft('exec', '-t', '60s', 'h1', '--', *command, ':::', 'h0', '--', *command, 'h1')
        check(re.search(r'^h0\|\s+65536\s+50 ', out, re.M), out)
        command = ['ibv_rc_pingpong', '-d', 'rxe0', '-g', '1', '-e', '-n', '100']
        out = weft('exec', '-t', '60s', 'h1', '--', *command, ':::', 'h0', '--', *command, 'h1')
        check(re.search(r'^h0\| 100 iters in', out, re.M), out)
        compiled_here()
        summary = weft('lab', 'down')
    except Failed:
        print(weft('lab', 'down'))
        raise
    frames_are_right(summary)


def compiled_here():
    with open(os.path.join(ROOT, 'p.c'), 'w', encoding='ascii') as f:
        f.write('#include <stdio.h>\n#include <stdlib.h>\n'
                'int main(void) { return printf("I am %s\\n", getenv("WEFT_HOST")) < 0; }\n')
    subprocess.run(['cc', '-o', 'p', 'p.c'], cwd=ROOT, check=True)
    out = weft('exec', 'h0', 'h1', '--', './p')
    check('h0| I am h0' in out and 'h1| I am h1' in out, out)


def hosts_of(summary):
    """The table of real hosts: name to its columns."""
    columns = ('sent', 'received', 'right_in', 'wrong_in', 'right_out', 'ce', 'naks')
    rows = re.findall(r'^  (h\d)((?:\s+\d+){7})\s+\S+$', summary, re.M)
    return {name: dict(zip(columns, map(int, row.split()))) for name, row in rows}


def captured(name):
    """(time in units of the file, frame) of one of weft's pcapng files, little-endian."""
    with open(os.path.join(ROOT, name), 'rb') as f:
        data = f.read()
    at = 0
    while at + 12 <= len(data):
        kind, length = struct.unpack_from('<II', data, at)
        if kind == 6:
            high, low, kept = struct.unpack_from('<III', data, at + 12)
            yield high << 32 | low, data[at + 28:at + 28 + kept]
        at += length


def ticks_per_second(name):
    """if_tsresol of the file's first interface: option 9 of block type 1, a power of ten."""
    with open(os.path.join(ROOT, name), 'rb') as f:
        data = f.read(4096)
    at = struct.unpack_from('<I', data, 4)[0]
    end, at = at + struct.unpack_from('<I', data, at + 4)[0] - 4, at + 16
    while at < end:
        code, length = struct.unpack_from('<HH', data, at)
        if code == 9:
            return 10 ** data[at + 4]
        at += 4 + (length + 3) // 4 * 4
    return 10 ** 6


def icrc_is_right(frame):
    """IBTA A17.9.4.1 by zlib's CRC: what a switch may change counts as ones. None: no RoCEv2."""
    if frame[12:14] != b'\x08\x00' or frame[23] != 17 or frame[36:38] != b'\x12\xb7':
        return None
    end = 14 + struct.unpack_from('>H', frame, 16)[0]
    masked = bytearray(b'\xff' * 8 + frame[14:end - 4])
    for at in (8 + 1, 8 + 8, 8 + 10, 8 + 11, 8 + 26, 8 + 27, 8 + 28 + 4):
        masked[at] = 0xff
    return struct.pack('<I', zlib.crc32(masked)) == frame[end - 4:end]


def frames_are_right(summary):
    """By weft's own table, and by an ICRC that is not weft's, before and behind the fabric."""
    hosts = hosts_of(summary)
    check(len(hosts) == 2, summary)
    for h in hosts.values():
        check(h['right_in'] > 20 and h['right_out'] > 20, summary)
        check(not h['wrong_in'], summary)
    for name in ('h0.pcapng', 'h1.pcapng'):
        frames = [frame for _, frame in captured(name)]
        verdicts = [v for v in map(icrc_is_right, frames) if v is not None]
        check(len(verdicts) >= 800 and all(verdicts),
              f'{name}: {len(verdicts)} RoCEv2 frames, {verdicts.count(False)} with a wrong ICRC')
        # 50 messages of 64 KiB at 4096: 14 WRITE MIDDLE in each, with the traffic class asked for
        marked = [f for f in frames if icrc_is_right(f) and f[42] == 7 and f[15] == 0x6a]
        check(len(marked) >= 50 * 14, f'{name}: {len(marked)} frames with traffic class 106')


def write_bw(*more):
    command = ['ib_write_bw', '-d', 'rxe0', '-F', '--tclass=106', *more]
    out = weft('exec', '-t', '90s', 'h1', '--', *command, ':::', 'h0', '--', *command, 'h1')
    check(re.search(r'^h0\|\s+65536\s', out, re.M), out)


def hw_counters(host):
    """What the host's own RDMA stack counted."""
    out = weft('exec', '--no-prefix', host, '--', 'sh', '-c',
               'cd /sys/class/infiniband/rxe0/ports/1/hw_counters; grep . *')
    return {name: int(value) for name, value in re.findall(r'^(\w+):(\d+)$', out, re.M)}


def slow_spine():
    """Marks at the port are the CE packets that the receiver's capture holds; the sender is held
    back, and nothing is lost."""
    source = os.path.join(SOURCE, 'scenarios/lab-slow.yaml')
    weft('lab', 'up', source)
    try:
        write_bw('-n', '20')
        check(hw_counters('h1')['out_of_seq_request'] == 0, 'something was lost')
    finally:
        summary = weft('lab', 'down')
    table = summary[:summary.index('who paused whom')]
    marked = sum(map(int, re.findall(r'^  \w+:p\d+\s+3(?:\s+\S+){3}\s+(\d+)', table, re.M)))
    check(marked > 10, summary)
    with_ce = hosts_of(summary)['h1']['ce']
    check(marked == with_ce, f'{marked} marked, {with_ce} with CE\n{summary}')
    check(re.search(r'paused h0:p0.prio3 [1-9]', summary), summary)
    if shutil.which('tshark'):
        seen = subprocess.run(['tshark', '-r', os.path.join(ROOT, 'lab-slow.pcapng'), '-Y',
                               'ip.dsfield.ecn == 3'], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=True).stdout.count(b'\n')
        check(seen == marked, f'{marked} marked, {seen} in the capture')


def loss():
    """1 in 97 lost on the way: NAKs, go-back-N, and the real stack's counters agree."""
    path = scenario('loss', '  "*": {mtu: 1500, attach: {type: vhost_user}}', more=(
        'timeline:\n  - {at: 0, do: inject_drop, where: "leaf1:p0", every: 97, '
        'match: roce_data}\n'))
    weft('lab', 'up', path)
    try:
        write_bw('-n', '40')
        sender, receiver = hw_counters('h0'), hw_counters('h1')
    finally:
        summary = weft('lab', 'down')
    lost = int(re.search(r'leaf1:p0\s+injected\s+(\d+) frames', summary)[1])
    naks = hosts_of(summary)['h1']['naks']
    check(lost >= 40 * 64 // 97 and naks > 0, f'{lost} lost, {naks} NAKs\n{summary}')
    # one NAK for each gap that was seen; a gap in what is sent again may be within another
    check(receiver['out_of_seq_request'] >= naks and sender['rcvd_seq_err'] > 0,
          f'{naks} NAKs on the wire, {sender}, {receiver}')


def four_in_one_guest():
    path = scenario('four', '  "*": {mtu: 1500, attach: {type: vhost_user}, place: {guest: g}}',
                    per_leaf=2)
    weft('lab', 'up', path)
    try:
        out = weft('exec', 'g', '--', 'ibv_devinfo')
        check(len(re.findall(r'active_mtu:\s*1024', out)) == 4, out)
        for server in ('h1', 'h3'):  # on the same leaf, and across the spines
            tool = 'exec ibv_rc_pingpong -d $WEFT_RDMA_DEV -g 1 -e -n 50 '
            weft('exec', '-t', '60s', server, '--', 'sh', '-c', tool,
                 ':::', 'h0', '--', 'sh', '-c', tool + server)
        out = weft('exec', '-t', '60s', 'h2', '--', 'nc', '-l', '-p', '5000',
                   ':::', 'h0', '--', 'sh', '-c', 'echo six | nc -w 5 fd00:1::1 5000')
        check('h2| six' in out, out)
    finally:
        summary = weft('lab', 'down')
    # all of it went through the fabric, though it never left the guest's kernel otherwise
    hosts = hosts_of(summary)
    check(all(hosts[h]['sent'] > 50 for h in ('h0', 'h1', 'h3')), summary)


def namespaces():
    if os.getuid():
        print('# namespaces: not root, left out')
        return
    path = scenario('spaces', (
        '  h0: {attach: {type: af_packet, iface: wfl0}, place: {netns: wfl0}}\n'
        '  h1: {attach: {type: af_packet, iface: wfl1}, place: {netns: wfl1}}\n'))
    weft('lab', 'up', path)
    try:
        check('not found' in weft('exec', 'h0', '--', 'no-such-program', status=127), 'not found')
        weft('exec', 'h0', '--', '/etc/passwd', status=126)
        server = ('import socket; s = socket.create_server(("::", 5000), dualstack_ipv6=True, '
                  'family=socket.AF_INET6); c = s.accept()[0]; print(c.makefile().read())')
        for address in ('10.1.0.1', 'fd00:1::1'):
            client = (f'import socket; s = socket.create_connection(("{address}", 5000), 10); '
                      's.sendall(b"x" * 100000); s.shutdown(1); s.recv(1)')
            out = weft('exec', '-t', '60s', 'h1', '--', 'python3', '-c', server,
                       ':::', 'h0', '--', 'python3', '-c', client)
            check('h1| ' + 'x' * 60000 in out.replace('\nh1| ', ''), f'{address}: {out[:300]}')
        check(weft('exec', 'h0', '--', 'sh', '-c', 'exit 5', status=5), 'exit status')
    finally:
        weft('lab', 'down')
    links = subprocess.run(['ip', 'link'], stdout=subprocess.PIPE, text=True, check=True).stdout
    check('wfl' not in links and not os.path.exists('/run/netns/wfl0'), 'a namespace is left')


def settings():
    """--set and --lcores: another seed, on two cores, and repeated from its recording."""
    if os.getuid():
        print('# settings: not root, left out')
        return
    path = scenario('settings', '  h0: {place: {netns: wfs0}}\n')
    check('expected KEY=VALUE' in weft('lab', 'up', '--set', 'seed', path, status=2), '--set')
    check('a whole number from 1 to 64' in weft('lab', 'up', '--lcores', '0', path, status=2), '--lcores')
    weft('lab', 'up', '--set', 'seed=1234', '--set', 'topology.hosts_per_leaf=3', '--lcores', '2',
         '--record', 'settings.tar', path)
    try:
        check(re.search(r'seed +1234\n', weft('show')), weft('show'))
        weft('clear', 'queue', 'watermark', 'unicast')
    finally:
        summary = weft('lab', 'down')
    check('settings: seed 1234, live' in summary, summary)
    check('equal: the digest' in weft('run', 'settings.tar'), 'its recording')


SEND = """
import socket, time
s = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
s[0].setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 26 << 2)
end = time.monotonic() + 3.5
while time.monotonic() < end:
    for x in s:
        x.sendto(b'x' * 400, ('10.0.0.1', 9))
    time.sleep(0.01)
"""
PAUSE = """
import socket, struct, time
time.sleep(1)
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(('eth0', 0))
quanta = [0, 0, 0, %d, 0, 0, 0, 0]
s.send(bytes.fromhex('0180c20000010200000000018808') + struct.pack('>HH8H', 0x101, 8, *quanta)
       + bytes(26))
time.sleep(3)
"""


def xoff_from_a_namespace():
    """An XOFF of q quanta from a real host: silence of that priority for q x 512 bit times, one
    frame more or less, and of no other."""
    if os.getuid():
        print('# xoff_from_a_namespace: not root, left out')
        return
    quanta, rate = 20000, 10e6
    path = scenario('xoff', (
        '  h0: {attach: {type: af_packet, iface: wfx0, pfc: honour}, place: {netns: wfx0}}\n'
        '  h1: {attach: {type: af_packet, iface: wfx1}, place: {netns: wfx1}}\n'), more=(
            'switches: {"*": {pg: {3: {lossless: true, xoff: 200kB, xon: 100kB}}}}\n'
            'capture:\n  - {at: "leaf0:p0", file: xoff.pcapng}\n'))
    with open(path, encoding='ascii') as f:
        text = f.read().replace('1us}\n', '1us}\n  "h0:*": {rate: 10Mbps}\n', 1)
    with open(path, 'w', encoding='ascii') as f:
        f.write(text)
    weft('lab', 'up', path)
    try:
        weft('exec', '-t', '60s', 'h0', '--', 'python3', '-c', PAUSE % quanta,
             ':::', 'h1', '--', 'python3', '-c', SEND)
    finally:
        summary = weft('lab', 'down')
    second, frames = ticks_per_second('xoff.pcapng'), list(captured('xoff.pcapng'))
    paused = [at for at, f in frames if f[12:16] == b'\x88\x08\x01\x01']
    check(len(paused) == 1, f'{len(paused)} PFC frames seen\n{summary}')

    def times(tos):
        return [(at - paused[0]) / second for at, f in frames
                if f[12:14] == b'\x08\x00' and f[15] & 0xfc == tos and f[23] == 17]
    silence = min(x for x in times(26 << 2) if x > 0.002)
    frame = (400 + 28 + 18 + 20) * 8 / rate
    check(abs(silence - quanta * 512 / rate) <= frame, f'silent for {silence} s\n{summary}')
    others = [x for x in times(0) if 0 < x < silence]
    check(len(others) > 50, f'{len(others)} frames of priority 0 in {silence} s')


def guest_process(host):
    found = [p for p in processes(f'{host}.vhost') if 'qemu' in os.readlink(f'/proc/{p}/exe')]
    check(len(found) == 1, f'processes of guest {host}: {found}')
    return found[0]


INCIDENT = """weft: 1
name: incident
topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 1}
links:
  "*": {rate: 1Gbps, delay: 1us}
  "leaf*-spine*": {rate: 100Mbps}
switches:
  "*":
    pg: {3: {lossless: true, xoff: 60kB, xon: 40kB}}
    queue: {3: {ecn: true, kmin: 20kB, kmax: 60kB, pmax: 50%}}
hosts:
  "*": {mtu: 4200, attach: {type: vhost_user, pfc: backpressure, fifo: 32}}
capture:
  - {at: "leaf1:p0", file: incident.pcapng}
"""


def recorded():
    """An incident: congestion, a receiver that stands still for a second, faults, a link that
    flaps. Handed on as one file, it repeats to the bit, however often, on one lcore and on two."""
    path = os.path.join(ROOT, 'incident.yaml')
    with open(path, 'w', encoding='ascii') as f:
        f.write(INCIDENT)
    weft('lab', 'up', '--record', 'incident.tar.zst', '--payload', 'cut', path)
    try:
        command = ['ib_write_bw', '-d', 'rxe0', '-F', '--tclass=106', '-u', '18', '-n', '200', '-q', '4']
        with subprocess.Popen([WEFT, 'exec', '-t', '90s', 'h1', '--', *command, ':::', 'h0', '--',
                               *command, 'h1'], cwd=ROOT, env=ENV, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as load:
            for _ in range(200):
                hosts = json.loads(weft('show', 'edges', '--json'))['rows']
                if {h['name']: h for h in hosts}['h0']['in_frames'] > 500:
                    break
                time.sleep(0.05)
            weft('inject', 'drop', '--at', 'leaf1:p0', '--every', '50', '--count', '4')
            weft('inject', 'ce', '--at', 'leaf0:p0', '--class', 'any', '--count', '10')
            guest = guest_process('h1')
            os.kill(guest, signal.SIGSTOP)
            time.sleep(1)
            os.kill(guest, signal.SIGCONT)
            weft('inject', 'pfc', '--at', 'leaf0:p0', '--priority', '3')
            for spine in '01':
                link = f'leaf0:p{1 + int(spine)}-spine{spine}:p0'
                weft('inject', 'down', link)
                time.sleep(0.1)
                weft('inject', 'up', link)
            weft('inject', 'rate', 'leaf0:p1-spine0:p0', '50Mbps')
            out = load.communicate(timeout=90)[0]
        check(re.search(r'^h0\|\s+65536\s', out, re.M), out)
    finally:
        summary = weft('lab', 'down')
    check('recording: incident.tar.zst, ' in summary and 'INCOMPLETE' not in summary, summary)
    check(not os.path.exists(os.path.join(ROOT, 'incident.tar.zst.part')), 'parts are left')
    os.remove(path)
    for lcores in ('1', '2'):
        for _ in range(3):
            out = weft('run', '--json', '-', '--lcores', lcores, 'incident.tar.zst')
            result = json.loads(out)
            check(result['repeat']['equal'] and result['repeat']['complete'], out)
            check(result['digest'] in summary, f'{result["digest"]}\n{summary}')
    hosts = {h['name']: h for h in result['hosts']}
    check(hosts['h1']['stall_events'] > 0 and hosts['h0']['backpressure_ps'] > 0, str(hosts))
    check(hosts['h0']['icrc_ok_packets'] > 1000 and hosts['h0']['icrc_bad_packets'] == 0,
          str(hosts))


def wrong_use():
    path = scenario('none', '  "*": {mtu: 1500}')
    check('no host is a guest' in weft('lab', 'up', path, status=2), 'no guests')
    weft('lab', 'up', os.path.join(ROOT, 'missing.yaml'), status=2)
    weft('lab', 'up', status=2)
    weft('lab', 'sideways', status=2)
    weft('lab', 'down', status=3)
    path = scenario('two', '  "*": {attach: {type: vhost_user}}')
    weft('lab', 'up', path, '--share', '/etc', status=2)
    weft('lab', 'up', path, '--accel', 'warp', status=2)
    weft('lab', 'up', path, '-i', 'a/b', status=2)
    out = weft('lab', 'up', path, '--kernel', 'no-such-kernel', status=3)
    check("no kernel package 'no-such-kernel'" in out, out)
    bare = os.path.join(ROOT, 'bin')
    os.mkdir(bare)
    out = weft('lab', 'up', path, status=3, env=dict(ENV, PATH=bare))
    check('qemu-system-x86' in out, out)


def interrupted():
    path = scenario('two', '  "*": {attach: {type: vhost_user}}')
    up = subprocess.Popen([WEFT, 'lab', 'up', path], cwd=ROOT, env=ENV, stderr=subprocess.PIPE,
                          text=True)
    for line in up.stderr:
        if 'guests boot' in line:
            up.send_signal(signal.SIGINT)
            break
    check(up.wait(60) == 130, f'exit status {up.returncode}')


def killed():
    path = scenario('two', '  "*": {attach: {type: vhost_user}}')
    weft('lab', 'up', path)
    pid = int(re.search(r'two: process (\d+)', weft('lab', 'status'))[1])
    os.kill(pid, signal.SIGKILL)
    for _ in range(100):  # a process that ends holds its lock for a moment longer
        out = weft('lab', 'status')
        if 'two: dead' in out and not processes(os.path.join(ROOT, 'weft-')):
            break
        time.sleep(0.1)
    check('two: dead' in out, out)
    check(not processes(os.path.join(ROOT, 'weft-')), 'guests outlive the lab')
    check('had died' in weft('lab', 'down', '-i', 'two'), 'down')


TESTS = [wrong_use, two_guests, recorded, slow_spine, loss, four_in_one_guest, namespaces, settings,
         xoff_from_a_namespace, interrupted, killed]


def main(tests):
    if not shutil.which('qemu-system-x86_64'):
        print('skipped: no qemu-system-x86_64 (package qemu-system-x86)')
        return 77
    failed = 0
    chosen = [t for t in tests if not sys.argv[2:] or t.__name__ in sys.argv[2:]]
    print(f'1..{len(chosen)}')
    for n, test in enumerate(chosen, 1):
        try:
            test()
            nothing_left()
            print(f'ok {n} - {test.__name__}', flush=True)
        except (Failed, subprocess.TimeoutExpired) as e:
            failed += 1
            print('\n'.join('# ' + x for x in str(e).splitlines()))
            print(f'not ok {n} - {test.__name__}', flush=True)
            if processes(os.path.join(ROOT, 'weft-')):
                subprocess.run([WEFT, 'lab', 'down'], env=ENV, check=False)
    shutil.rmtree(ROOT)
    return failed != 0


if __name__ == '__main__':
    sys.exit(main(TESTS))
