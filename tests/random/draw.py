#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A scenario from a seed: topology, links, switches, hosts, workload, timeline.

usage: draw.py SEED... prints the scenarios. A case is a dict as the scenario file has it, so that
shrink.py can take things out of it; text() writes it as the YAML that `weft run` takes.

What keeps the rest honest: a case that is drawn to be lossless has nothing in it that may lose a
lossless packet, so that a drop is a bug. Everything else may be as foolish as the keys allow.
"""
import sys

U64 = (1 << 64) - 1


class Draw:
    """splitmix64: the same numbers on every Python."""

    def __init__(self, seed):
        self.state = (seed * 0x9E3779B97F4A7C15 + 0x1234567) & U64

    def below(self, n):
        self.state = (self.state + 0x9E3779B97F4A7C15) & U64
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & U64
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & U64
        return (z ^ (z >> 31)) % n

    def one_in(self, n):
        return self.below(n) == 0

    def between(self, a, b):
        return a + self.below(b - a + 1)

    def pick(self, items):
        return items[self.below(len(items))]

    def log(self, a, b):
        """Between a and b, each size of number as likely."""
        lo, hi = max(a, 1).bit_length(), b.bit_length()
        bits = self.between(lo, hi)
        return min(max(self.between((1 << bits) >> 1, (1 << bits) - 1), a), b)

    def shuffled(self, items):
        items = list(items)
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]
        return items


# --- units ------------------------------------------------------------------------------------

def written(value, units):
    """The whole number in the largest unit that has no fraction."""
    for size, unit in units:
        if value and value % size == 0:
            return f"{value // size}{unit}"
    return 0


def time_of(ps):
    return written(ps, [(10**12, "s"), (10**9, "ms"), (10**6, "us"), (1000, "ns"), (1, "ps")])


def rate_of(bps):
    return written(bps, [(10**9, "Gbps"), (10**6, "Mbps"), (1000, "kbps"), (1, "bps")])


def bytes_of(n):
    return written(n, [(1 << 30, "GiB"), (10**6, "MB"), (1000, "kB"), (1 << 10, "KiB"), (1, "B")])


# --- the case as a whole ----------------------------------------------------------------------

class World:
    """What the parts of a drawing have to know of each other."""

    def __init__(self, seed):
        self.d = Draw(seed)
        self.lossless = self.d.one_in(2)  # promised: strict, nothing is lost on the way
        self.best_effort = not self.lossless and self.d.one_in(2)
        self.tame = self.lossless or self.d.one_in(3)  # no losses on links
        self.hosts, self.links, self.switches = [], [], []
        self.ring = False
        # frames of one length: their sum comes to a limit exactly
        self.uniform = self.best_effort and self.d.one_in(2)
        self.packets = 0  # data packets so far
        self.rate = self.fastest = 0
        self.classes = []  # DSCPs in use
        self.deaf = False  # hosts do not obey pauses
        self.span_ps = 0  # about how long it takes
        self.sw = {}  # keys of all switches

    def is_lossy(self, dscp):
        """Whether the case has taken losslessness from the group of that DSCP."""
        tc = self.sw.get("dscp_to_tc", {}).get(dscp, dscp // 8)
        group = self.sw.get("tc_to_pg", {}).get(tc, tc)
        return self.sw["pg"].get(group, {}).get("lossless") == "false"


def leaf_spine(w):
    d = w.d
    leaves = d.between(1, 3)
    spines = d.between(0 if leaves == 1 else 1, 3)
    per = d.between(1 if leaves > 1 else 2, 4)
    w.switches = [f"leaf{i}" for i in range(leaves)] + [f"spine{i}" for i in range(spines)]
    w.hosts = [f"h{i}" for i in range(leaves * per)]
    w.links = [(f"h{i}", f"leaf{i // per}") for i in range(leaves * per)]
    w.links += [(f"leaf{i}", f"spine{j}") for i in range(leaves) for j in range(spines)]
    return {"kind": "leaf_spine", "leaves": leaves, "spines": spines, "hosts_per_leaf": per}


def explicit(w):
    """One switch, or a tree of them whose links may be double, or (lossy only) with a ring."""
    d = w.d
    n = d.between(1, 4)
    w.ring = n > 2 and not w.lossless and d.one_in(2)
    w.switches = [f"s{i}" for i in range(n)]
    w.hosts = [f"h{i}" for i in range(d.between(2, 6))]
    for host in w.hosts:
        w.links.append((host, d.pick(w.switches)))
    for i in range(1, n):
        for _ in range(d.between(1, 3) if d.one_in(2) else 1):
            w.links.append((w.switches[i], w.switches[d.below(i)]))
    if w.ring:
        w.links.append((w.switches[n - 1], w.switches[0]))
    w.links = d.shuffled(w.links)
    return {"kind": "explicit", "switches": list(w.switches), "hosts": list(w.hosts),
            "links": [list(ends) for ends in w.links]}


def fat_tree(w):
    """Its names are those that the generator gives."""
    k = w.d.pick([2, 4, 4])
    w.hosts = [f"h{i}" for i in range(k * k * k // 4)]
    w.links = [(h, None) for h in w.hosts]
    return {"kind": "fat_tree", "k": k}


def draw_topology(w):
    kind = w.d.below(8)
    if kind < 4:
        return leaf_spine(w)
    return explicit(w) if kind < 7 else fat_tree(w)


RATES = [10**9, 10**10, 25 * 10**9, 40 * 10**9, 50 * 10**9, 10**11, 2 * 10**11, 4 * 10**11,
         16 * 10**11, 33300000, 7 * 10**9 + 7]
DELAYS = [0, 1, 1000, 50000, 500000, 500000, 2000000, 20000000]


def draw_link(w, base):
    d = w.d
    link = {}
    if base or d.one_in(2):
        rate = d.pick(RATES[:9] if base or not d.one_in(4) else RATES)
        # a slower one would be watched for too long: each pause is refreshed all the time
        w.rate = rate if base else max(rate, w.rate // 100)
        w.fastest = max(w.fastest, w.rate)
        link["rate"] = rate_of(w.rate)
    if base or d.one_in(2):
        link["delay"] = time_of(d.pick(DELAYS) if d.one_in(2) else d.log(1, 3000000))
    if not w.tame and d.one_in(3):
        link["loss"] = f"1/{d.log(20, 3000)}"
    if not w.tame and d.one_in(3):
        link["corrupt"] = f"1/{d.log(20, 3000)}"
    return link


def draw_links(w):
    d = w.d
    links = {"*": draw_link(w, True)}
    rate = w.rate
    # frames as long as the link takes: then the headroom's bound is reached
    if w.lossless and d.one_in(2):
        links["*"]["mtu"] = w.mtu_needed
    elif not w.lossless and d.one_in(12):
        links["*"]["mtu"] = d.pick([68, 1500, 9600])
    w.mtu = links["*"].get("mtu", 9216)
    for _ in range(d.below(4)):
        a, b = d.pick(w.links)
        links[a if b is None or d.one_in(3) else f"{a}-{b}"] = draw_link(w, False)
    w.rate = rate
    return links


def draw_maps(w):
    """Class to group, group to queue and to priority, and what follows from them."""
    d = w.d
    group_of = [d.below(8) for _ in range(8)] if d.one_in(2) else d.shuffled(range(8))
    queue_of, prio_of = d.shuffled(range(8)), d.shuffled(range(8))
    class_of = {x: d.below(8) for x in w.classes}
    sw = {
        "dscp_to_tc": class_of,
        "tc_to_pg": dict(enumerate(group_of)),
        "tc_to_queue": {t: queue_of[g] for t, g in enumerate(group_of)},
        "pg_to_pfc_priority": dict(enumerate(prio_of)),
        "pfc_priority_to_queue": {prio_of[g]: queue_of[g] for g in range(8)},
    }
    return sw, {x: prio_of[group_of[c]] for x, c in class_of.items()}


ALPHAS = ["1/64", "1/8", "1/2", 1, 2, "8/2", 16, "0.25", 128]


def draw_pools(w, sw):
    """Pools that are large enough for what is reserved in them, and nothing beyond that. A key that
    the mode of its pool makes idle is a warning, and then nothing is promised."""
    d = w.d
    w.pools = d.between(1, 4) if d.one_in(2) else 1
    w.reserved = d.pick([0, d.log(1, 30000)]) if d.one_in(2) else 0
    w.dynamic = [d.one_in(2) for _ in range(4)] if d.one_in(2) else [False] * 4
    w.egress_dynamic = [d.one_in(2) for _ in range(4)] if d.one_in(3) else [False] * 4
    if d.one_in(3):
        sw["cell"] = bytes_of(d.pick([64, 208, 254, 256, 1024, d.log(1, 4096)]))
    most = 16 * len(w.links) * w.reserved  # groups or queues of a switch's ports
    pools, egress = {}, {}
    for i in range(w.pools):
        pool, out = {}, {}
        if w.dynamic[i]:
            pool["mode"] = "dynamic"
        if w.dynamic[i] or w.reserved or d.one_in(3):
            pool["size"] = bytes_of(most + d.pick([1, d.log(1000, 100000), d.log(10000, 2000000)]))
        if w.best_effort and d.one_in(4):
            pool["headroom_pool"] = bytes_of(d.log(1000, 200000))
        if w.egress_dynamic[i]:
            out["mode"] = "dynamic"
        if w.egress_dynamic[i] or w.reserved or d.one_in(4):
            out["size"] = bytes_of(most + d.log(1, 2000000))
        pools.update({i: pool} if pool else {})
        egress.update({i: out} if out else {})
    sw.update({"ingress_pool": pools} if pools else {})
    sw.update({"egress_pool": egress} if egress else {})


def draw_share(w, item, dynamic, static):
    """Of the pool that it is drawn to use: alpha there, or the key whose place that is."""
    d = w.d
    if w.pools > 1:
        item["pool"] = d.below(w.pools)
    if w.reserved and d.one_in(2):
        item["reserved"] = bytes_of(d.between(0, w.reserved))
    if dynamic[item.get("pool", 0)]:
        item.pop(static, None)
        if d.one_in(2):
            item["alpha"] = d.pick(ALPHAS)


def draw_group(w):
    d = w.d
    frame = w.path_mtu + 62  # of a message's middle over IPv4: sums of them reach a limit exactly
    pg = {}
    if w.lossless or d.one_in(2):
        pg["lossless"] = "true"
        pg["xoff"] = bytes_of(d.pick([0, frame * d.between(1, 20), frame * d.between(1, 20),
                                      d.log(1000, 300000)]))
        if w.uniform:
            pg["xoff"] = bytes_of(frame * d.between(1, 12))
        if d.one_in(3):
            pg["xon"] = d.pick([0, pg["xoff"]])
        if d.one_in(3):
            pg["xon_offset"] = bytes_of(d.pick([0, frame, d.log(1, 100000)]))
        if w.best_effort:
            pg["headroom"] = bytes_of(d.pick([0, frame * d.between(1, 12), frame * d.between(1, 12),
                                              d.log(1000, 100000)]))
    if not w.lossless and d.one_in(2):
        pg["limit"] = bytes_of(d.pick([0, 1, d.log(3000, 300000), 1 << 40]))
    draw_share(w, pg, w.dynamic, "xoff" if "lossless" in pg else "limit")
    return pg


def draw_limit(w):
    """A shaper's rate: not so slow that the run gets long."""
    return w.d.log(max(w.rate // 20, 1000), w.rate)


def draw_queue(w):
    d = w.d
    q = {}
    if d.one_in(3):
        q["sched"] = "strict"
    elif d.one_in(4):
        q["sched"] = "wrr"
    if d.one_in(2):
        q["weight"] = d.pick([1, 1000, d.between(1, 1000)])
    if d.one_in(3):
        q["group"] = d.below(8)
    for key in ("max", "min"):
        if d.one_in(8):
            q[key + "_rate"] = rate_of(draw_limit(w))
            if d.one_in(2):
                q[key + "_burst"] = bytes_of(d.log(1, 100000))
    if d.one_in(2):
        q["ecn"] = "true"
        kmin = d.pick([0, d.log(1, 200000)])
        q["kmin"] = bytes_of(kmin)
        q["kmax"] = bytes_of(kmin + d.pick([0, 1, d.log(1, 200000)]))
        if d.one_in(2):
            q["pmax"] = f"{d.between(0, 100)}%"
        if d.one_in(2):
            q["mark_at"] = "enqueue"
        if d.one_in(4):
            q["ecn_average"] = d.between(1, 15)
        if not w.lossless and d.one_in(4):
            q["wred_drop"] = "true"
    if not w.lossless and d.one_in(3):
        q["limit"] = bytes_of(d.pick([0, d.log(3000, 300000)]))
    draw_share(w, q, w.egress_dynamic, "limit")
    return q


def draw_pfc(w):
    """A pause that can run out before its refresh is no promise of losslessness, and still shorter
    quanta fill a link with refreshes, so that two switches stop each other for ever."""
    d = w.d
    pfc = {}
    least = (w.mtu + 26 + 20 + 84) // 32 + 1 if not w.best_effort else 24
    # nor is a pause so short that a fast link refreshes it millions of times: 200 ns
    least = max(least, w.fastest // (512 * 5 * 10**6))
    if d.one_in(2):
        pfc["quanta"] = d.pick([least, 65535, d.log(least, 65535)])
    if d.one_in(3):
        pfc["response"] = time_of(d.pick([0, 1, d.log(1000, 5000000)]))
    return pfc


FIELDS = ["src_ip", "dst_ip", "ip_protocol", "l4_src_port", "l4_dst_port", "rdma_bth_dest_qp",
          "in_port", "vlan_id"]


def draw_lb(w):
    """Where nothing may be lost packets keep their order too: go-back-N takes the other for loss."""
    d = w.d
    lb = {}
    if d.one_in(2):
        lb["fields"] = [f for f in FIELDS if d.one_in(2)]
    if d.one_in(2):
        lb["salt"] = d.below(1 << 20)
    if d.one_in(2):
        lb["resilient"] = d.pick(["return", "stay"])
        lb["buckets"] = d.pick([2, 64, d.between(2, 300)])
    if w.lossless:
        return lb
    lb["mode"] = d.pick(["ecmp", "flowlet", "spray", "adaptive"])
    lb["spray"] = d.pick(["random", "round_robin"])
    lb["gap"] = time_of(d.log(1, 100000000))
    lb["flowlets"] = d.pick([0, 1, d.log(1, 4096)])
    lb["choice"] = d.pick(["random", "least_loaded"])
    lb["quantum"] = bytes_of(d.log(1, 100000))
    lb["levels"] = d.between(2, 64)
    return lb


def draw_switches(w):
    d = w.d
    sw, host_map = draw_maps(w) if d.one_in(2) else ({}, {})
    if d.one_in(3):
        sw["forwarding"] = "l2"
    if d.one_in(2):
        sw["mode"] = "cut_through"
    sw["latency"] = time_of(d.pick([0, 1, 500000, d.log(1, 3000000)]))
    sw["buffer"] = "1024GiB"
    if w.best_effort and d.one_in(3):
        sw["buffer"] = bytes_of(d.pick([0, d.log(10000, 400000)]))
    draw_pools(w, sw)
    if w.best_effort and d.one_in(4):
        sw["trust"] = "pcp"
    sw["pfc"] = draw_pfc(w)
    if not w.ring and (w.lossless or d.one_in(2)):
        sw["pg"] = {"*": draw_group(w)}
        if not w.lossless or d.one_in(3):
            sw["pg"][d.below(8)] = {"lossless": "false"}
    elif w.ring:
        sw["pg"] = {"*": {} if w.dynamic[0] else {"limit": bytes_of(d.log(3000, 300000))}}
    if d.one_in(8):
        sw["max_rate"] = rate_of(draw_limit(w))
        if d.one_in(2):
            sw["max_burst"] = bytes_of(d.log(1, 100000))
    if not w.lossless and d.one_in(6):  # a pause may stop another queue than the frame's
        sw["rewrite"] = d.pick(["dscp", "both"])
        sw["tc_to_dscp"] = {t: d.below(64) for t in range(8) if d.one_in(2)}
    sw["group"] = {d.below(8): {"weight": d.between(1, 1000)}}
    sw["queue"] = {"*": draw_queue(w), d.below(8): draw_queue(w)}
    if w.pause:  # 802.3x, which stops all priorities at once
        sw["flow_control"] = "pause"
    elif w.best_effort and d.one_in(6):
        sw["flow_control"] = d.pick(["pfc", "pause", "none"])
        sw["pfc"]["priorities"] = sorted({d.below(8), d.below(8)})
    if d.one_in(2):
        sw["lb"] = draw_lb(w)
    switches = {"*": sw}
    if w.switches and d.one_in(2):
        switches[d.pick(w.switches)] = {
            "mode": d.pick(["cut_through", "store_and_forward"]),
            "latency": time_of(d.log(1, 3000000)), "pfc": draw_pfc(w)}
    return switches, host_map


def draw_hosts(w, host_map):
    d = w.d
    host = {}
    if host_map:
        host["dscp_to_priority"] = host_map
    if d.one_in(3):
        host["pfc"] = {"response": time_of(d.pick([0, d.log(1, 5000000)]))}
    if w.pause or w.best_effort and d.one_in(6):
        host["flow_control"] = "pause"
    if w.best_effort and d.one_in(4):
        host.setdefault("pfc", {})["enable"] = "false"
        w.deaf = True
    return {"*": host} if host else {}


# --- what happens -----------------------------------------------------------------------------

PACKETS_MAX = 6000


def draw_sizes(w, flows):
    """Sizes and counts that leave the whole small enough to run a thousand of them."""
    d = w.d
    budget = max(PACKETS_MAX - w.packets, 100) // flows
    size = d.pick([1, w.path_mtu + 1, d.log(1, 400), d.log(1000, 300000), d.log(1000, 300000),
                   w.path_mtu * d.between(1, 60), w.path_mtu * d.between(20, 200)])
    if w.uniform:
        size = w.path_mtu * d.between(20, 300)
    size = min(size, budget * w.path_mtu)
    each = (size + w.path_mtu - 1) // w.path_mtu
    count = min(d.pick([1, d.between(1, 5), d.log(1, 300)]), max(budget // each, 1))
    w.packets += each * count * flows
    return size, count


def draw_flow(w, number):
    d = w.d
    kind = d.below(10)
    item = {"name": f"w{number}"}
    if kind < 5:
        to = d.pick(w.hosts)
        others = [h for h in w.hosts if h != to]
        some = d.shuffled(others)[:d.between(1, min(len(others), 8))]
        item.update({"kind": "incast", "from": sorted(some), "to": to})
        flows = len(some)
    elif kind < 8:
        a, b = d.shuffled(w.hosts)[:2]
        item.update({"from": a, "to": b})
        flows = 1
    else:
        some = sorted(d.shuffled(w.hosts)[:8])
        item.update({"kind": "permutation" if kind == 8 else "all_to_all", "from": some})
        flows = len(some) * (1 if kind == 8 else len(some) - 1)
    size, count = draw_sizes(w, flows)
    item["size"] = bytes_of(size)
    if count > 1:
        item["count"] = count
    item["path_mtu"] = w.path_mtu if w.uniform or d.one_in(2) else d.pick([m for m in MTUS if m <= w.path_mtu])
    window = d.pick([256, w.path_mtu, d.log(256, 400000), d.log(4096, 400000),
                     d.log(4096, 400000), 1 << 31 if size * count < 1000000 else 1000000])
    # each loss sends a window again, and whoever does not hear a pause loses all the time
    most = 40 * item["path_mtu"] if w.deaf else window if w.tame else 40 * w.path_mtu
    item["window"] = bytes_of(min(window, most))
    start = d.pick([0, 0, d.below(w.span_ps + 1)])
    if start:
        item["start"] = time_of(start)
    item["dscp"] = d.pick(w.classes)
    if d.one_in(2):
        item["ecn"] = "not_ect"
    if d.one_in(4):
        item["rate"] = rate_of(d.log(max(w.rate // 200, 1000), w.rate))
    item.update(draw_patience(w, item["dscp"]))
    return item


def draw_patience(w, dscp):
    """Where nothing is lost nobody may lose patience: then a retransmission is a bug as well. In a
    lossy group of such a case hundreds of messages may fail, one after the other."""
    d = w.d
    if w.lossless:
        return {"ack_timeout": "100ms" if w.is_lossy(dscp) else "10s"}
    return {"ack_timeout": time_of(d.pick([4096000, d.log(4096000, 500000000), 10**9, 10**10])),
            "retries": d.between(0, 7)}


MTUS = [256, 512, 1024, 2048, 4096]


def port_name(w, node, link):
    return f"{node}:p{sum(node in ends for ends in w.links[:link])}"


def draw_step(w, steps):
    d = w.d
    at = d.below(w.span_ps + 1)
    link = d.below(len(w.links))
    a, b = w.links[link]
    if b is None:  # named by the generator of the topology: ask for the host's own link
        name, port = a, f"{a}:p0"
    else:
        name = f"{port_name(w, a, link)}-{port_name(w, b, link)}"
        port = port_name(w, *d.pick([(a, link), (b, link)]))
    what = d.below(6)
    if what < 2 and w.tame and d.one_in(2) or what == 2:
        rate = d.pick(RATES[:9])
        steps.append((at, {"do": "link_rate", "link": name, "rate": rate_of(rate)}))
    elif what < 3:
        later = at + d.pick([0, d.log(1, 1000), d.log(1000, w.span_ps + 1000)])
        steps.append((at, {"do": "link_down", "link": name}))
        steps.append((later, {"do": "link_up", "link": name}))
    else:
        step = {"do": d.pick(["inject_drop", "inject_ce", "inject_corrupt"]), "where": port}
        step["every"] = d.pick([1, d.log(1, 100)])
        step["match"] = d.pick(["roce_data", "roce_ack", "roce", "any"])
        if step["every"] == 1 or d.one_in(2):
            step["limit"] = d.log(1, 30)
        steps.append((at, step))


def draw_timeline(w):
    """A case that is promised to be lossless has marks and other rates, but nothing is lost."""
    d = w.d
    steps = []
    if w.lossless:
        for _ in range(d.below(3) if d.one_in(3) else 0):
            host = d.pick(w.hosts)
            steps.append((d.below(w.span_ps), {"do": "inject_ce", "where": f"{host}:p0",
                                               "every": d.log(1, 50)}))
    else:
        for _ in range(d.below(5) if d.one_in(2) else 0):
            draw_step(w, steps)
    return [{"at": time_of(at), **step} for at, step in sorted(steps, key=lambda s: s[0])]


def draw_storms(w, case):
    """Hosts that pause whom they like; nothing is lost by that."""
    d = w.d
    strange = "flow_control" in case["hosts"].get("*", {}) and not w.pause
    for _ in range(0 if strange or d.below(3) else d.between(1, 3)):
        step = {"at": time_of(d.below(w.span_ps)), "do": "pause" if w.pause else "pfc",
                "where": f"{d.pick(w.hosts)}:p0", "quanta": d.pick([0] + 3 * [d.log(1, 2000)])}
        if not w.pause:
            step["priorities"] = sorted({d.below(8), d.below(8), d.pick(w.classes) // 8})
        if d.below(4):
            step["period"] = time_of(d.log(1000, w.span_ps // 4 + 2000))
            step["limit"] = d.log(1, 100)
        case["timeline"].append(step)


def draw_watchdog(w, case):
    """Where nothing may be lost it only watches."""
    d = w.d
    if not d.one_in(3):
        return
    poll = d.log(w.span_ps // 50, w.span_ps)
    case["switches"]["*"]["watchdog"] = {
        "action": "alert" if w.lossless else d.pick(["drop", "forward", "alert"]),
        "poll": time_of(poll), "detect": time_of(poll * d.between(1, 4)),
        "restore": time_of(poll * d.between(1, 4))}
    strange = "flow_control" in case["hosts"].get("*", {})
    if strange or d.one_in(4):
        return
    # pauses that meet each other for some polls: by which rate, says the link
    period = poll // d.between(1, 4) + 1
    case["timeline"].append({
        "at": time_of(d.below(w.span_ps)), "do": "pfc", "where": f"{d.pick(w.hosts)}:p0",
        "priorities": sorted({d.pick(w.classes) // 8, d.below(8)}),
        "quanta": max(min(period * w.rate // (256 * 10**12), 65535), 1),
        "period": time_of(period), "limit": d.between(4, 60)})


def draw_trim(w, case):
    d = w.d
    if w.lossless or not d.one_in(4):
        return
    sw = case["switches"]["*"]
    for i, queue in enumerate(sw["queue"].values()):
        if i == 0 or d.one_in(2):
            queue["packet_discard_action"] = "trim"
    sw["trim"] = {
        "size": bytes_of(d.pick([64, 128, d.log(64, 9216)])),
        "dscp_mode": d.pick(["value", "from_tc"]),
        "dscp": d.pick([d.below(64), d.pick(w.classes)]), "tc": d.below(8),
        "queue_mode": d.pick(["static", "dynamic"]), "queue": d.below(8),
        "ip_length": d.pick(["updated", "kept"])}


def vlan_of_host(w, vids, l2):
    """Where all has to get through they are all in one VLAN."""
    d = w.d
    vid = vids[0] if w.lossless or d.below(4) else d.pick(vids)
    if d.one_in(2):
        return {"mode": "access", "pvid": vid}
    vlan = {"mode": "trunk", "pvid": vid}
    allowed = d.pick([[], vids, [f"{min(vids)}-{max(vids)}"]])
    if allowed:
        vlan["allowed"] = allowed
    if not l2 and d.one_in(2):
        vlan["svi"] = d.pick(vids)
    return vlan


def draw_vlans(w, case):
    """Of switches that the drawing names. Between switches that bridge, both ends have one native
    VLAN, or else some frames change theirs."""
    d = w.d
    if w.links[0][1] is None or not d.one_in(4):
        return
    vids = [d.between(1, 4094) for _ in range(3)]
    l2 = case["switches"]["*"].get("forwarding") == "l2"
    ports = {}
    for i, (a, b) in enumerate(w.links):
        if a in w.hosts:
            ports[port_name(w, b, i)] = {"vlan": vlan_of_host(w, vids, l2)}
            continue
        native = d.pick([0, 1] + vids)
        for end in (a, b):
            vlan = {"mode": "trunk", "pvid": native}
            if not w.lossless and d.one_in(6):
                vlan = {"mode": d.pick(["trunk", "access"]), "pvid": d.pick([1] + vids)}
            if d.one_in(2):
                vlan["allowed"] = vids + [1]
            if l2 or not w.lossless and d.one_in(8):
                ports[port_name(w, end, i)] = {"vlan": vlan}
    case["ports"] = ports


def draw_age(w, case):
    """Who was silent is flooded for: to all ports, which lossless groups would not survive."""
    d = w.d
    if w.lossless or not d.one_in(6):
        return
    sw = case["switches"]["*"]
    sw["mac_age"] = time_of(d.pick([1, d.log(1, w.span_ps), d.log(w.span_ps // 100, 2 * w.span_ps)]))
    if d.one_in(8) or any(g.get("lossless") == "true" for g in sw.get("pg", {}).values()):
        sw["flood_lossless"] = "drop"


def draw_remark(w, case):
    """Where nothing may be lost each class keeps to itself, whatever DSCP it gets."""
    d = w.d
    if not w.lossless or not d.one_in(6):
        return
    sw = case["switches"]["*"]
    class_of = {x: sw.get("dscp_to_tc", {}).get(x, x // 8) for x in range(64)}
    sw["rewrite"] = d.pick(["dscp", "both"])
    sw["tc_to_dscp"] = {}
    for tc in range(8):
        some = [x for x in range(64) if class_of[x] == tc]
        if some:
            sw["tc_to_dscp"][tc] = d.pick(some)


ACTIONS = [  # those that are no more than a loss, then what makes frames strange
    {"do": "drop"}, {"do": "ce"}, {"do": "corrupt"},
    {"do": "corrupt", "crc": "icrc"}, {"do": "duplicate"}, {"do": "reorder"}, {"do": "delay"},
    {"do": "truncate"}, {"do": "truncate", "crc": "icrc"}]
OPCODES = ["write_first", "write_middle", "write_last", "write_only", "ack"]


def draw_address(w, fault):
    """Which packets it means."""
    d = w.d
    how = d.below(9)
    if how == 0:
        a, b = d.shuffled(w.hosts)[:2]
        fault.update({"from": a, "to": b})
        if d.one_in(2):
            fault["qp"] = f"#{d.between(1, 3)}"
    elif how == 1:
        fault["qp"] = 0x11 + d.below(8)
    elif how == 2:
        fault["opcode"] = d.shuffled(OPCODES)[:d.between(1, 3)]
    elif how == 3:
        first = d.log(1, 40)
        fault["psn"] = d.pick([f"+{first}", f"+{first}-{first + d.below(9)}"])
    elif how == 4:
        fault["match"] = d.pick(["roce_data", "roce_ack", "roce", "any"])
    if d.one_in(6) and fault.get("match") != "any":
        fault[d.pick(["iteration", "message"])] = d.between(1, 3)
    pick = d.below(5)
    if pick == 0:
        fault["nth"] = d.log(1, 30)
    elif pick == 1:
        fault["probability"] = f"1/{d.log(2, 20)}"
    elif pick == 2:
        fault["every"] = d.log(2, 20)
    fault["limit"] = d.log(1, 20)
    if d.one_in(4):
        fault["after"] = time_of(d.below(w.span_ps))


def draw_faults(w, case):
    """Where nothing may be lost they only mark."""
    d = w.d
    if d.below(5) < (4 if w.lossless else 2):
        return
    ports = [port_name(w, end, i) for i, ends in enumerate(w.links) for end in ends if end]
    ports += [f"{h}:p0" for h in w.hosts if f"{h}:p0" not in ports]
    known = ACTIONS[1:2] if w.lossless else d.pick([ACTIONS[:3], ACTIONS])
    case["faults"] = []
    for _ in range(d.between(1, 4)):
        fault = dict(d.pick(known))
        fault["where"] = d.pick(ports)
        if d.one_in(4):
            fault["dir"] = "in"
        draw_address(w, fault)
        if fault["do"] == "delay":
            fault["delay"] = time_of(d.log(1, 20000000))
        elif fault["do"] == "reorder":
            fault["behind"] = d.between(1, 5)
            fault["within"] = time_of(d.log(1, 50000000))
        elif fault["do"] == "duplicate":
            fault["copies"] = d.between(1, 4)
        elif fault["do"] == "truncate":
            fault["keep"] = d.log(1, 200)
        case["faults"].append(fault)


def draw_operations(w, case):
    """Messages whose packets are as those of WRITEs, all of them acknowledged."""
    d = w.d
    if not d.one_in(3):
        return
    for item in case["workload"]:
        if d.one_in(2):
            item["op"] = d.pick(["send", "send_imm", "send_inv", "write_imm"])


def draw_control(w, case):
    """Congestion controls; HPCC's packets are longer than their MTU was drawn for."""
    d = w.d
    if not d.one_in(4):
        return
    for item in case["workload"]:
        if d.one_in(2):
            item["cc"] = d.pick(["dcqcn", "dctcp", "swift", "timely"])


def l3_max(path_mtu):
    """Longest packet of such a path MTU: IPv6, UDP, BTH, RETH, immediate, ICRC."""
    return path_mtu + 40 + 8 + 12 + 16 + 4 + 4


def draw(seed):
    w = World(seed)
    d = w.d
    case = {"weft": 1, "name": f"seed{seed}", "seed": d.below(1 << 32), "time_limit": "4000s"}
    if w.best_effort:
        case["lossless"] = "best_effort"
    w.path_mtu = d.pick(MTUS)
    w.mtu_needed = l3_max(w.path_mtu)
    w.pause = d.one_in(8)
    w.classes = [d.below(64) for _ in range(d.between(1, 4))]
    case["topology"] = draw_topology(w)
    case["links"] = draw_links(w)
    w.span_ps = 200 * 8 * 10**12 * w.path_mtu // w.rate + 1000000
    case["switches"], host_map = draw_switches(w)
    w.sw = case["switches"]["*"]
    if "rewrite" in w.sw:
        case["lossless"] = "best_effort"
    case["hosts"] = draw_hosts(w, host_map)
    case["workload"] = [draw_flow(w, i) for i in range(d.between(1, 5))]
    case["timeline"] = draw_timeline(w)
    draw_storms(w, case)
    draw_watchdog(w, case)
    draw_trim(w, case)
    draw_vlans(w, case)
    draw_age(w, case)
    draw_remark(w, case)
    draw_faults(w, case)
    draw_operations(w, case)
    draw_control(w, case)
    return {k: v for k, v in case.items() if v or v == 0}


# --- YAML ---------------------------------------------------------------------------------------

PLAIN = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./%-")


def scalar(value):
    text = str(value)
    return text if text and set(text) <= PLAIN and text[0] not in "-%" else f'"{text}"'


def flow(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(k)}: {flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(v) for v in value) + "]"
    return scalar(value)


def text(case):
    """Two levels as blocks, what is below them on one line."""
    out = []
    for key, value in case.items():
        if isinstance(value, dict) and value and all(isinstance(v, dict) for v in value.values()):
            out.append(f"{key}:")
            for name, body in value.items():
                if len(flow(body)) < 90:
                    out.append(f"  {scalar(name)}: {flow(body)}")
                    continue
                out.append(f"  {scalar(name)}:")
                out += [f"    {scalar(k)}: {flow(v)}" for k, v in body.items()]
        elif isinstance(value, list) and value:
            out.append(f"{key}:")
            out += [f"  - {flow(v)}" for v in value]
        else:
            out.append(f"{key}: {flow(value)}")
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    for word in sys.argv[1:]:
        print(text(draw(int(word))), end="")
