# SPDX-License-Identifier: BSD-3-Clause
"""Makes a case smaller as long as it fails in the same way.

Parts are taken out one by one (halves first): workloads, steps, senders, hosts, switches, links,
keys; then numbers get smaller. What a case means is not known here: a candidate that the loader
refuses, or that fails otherwise, is no candidate.
"""
import copy
import re


def paths(value, at=()):
    """All places in a case, the deepest last."""
    if isinstance(value, dict):
        for key in list(value):
            yield at + (key,)
            yield from paths(value[key], at + (key,))
    elif isinstance(value, list):
        for i in range(len(value)):
            yield at + (i,)
            yield from paths(value[i], at + (i,))


def get(case, path):
    for key in path:
        case = case[key]
    return case


def without(case, path, first=None, n=1):
    """A copy without what stands at path, or without n elements of the list there."""
    case = copy.deepcopy(case)
    if first is None:
        del get(case, path[:-1])[path[-1]]
    else:
        del get(case, path)[first:first + n]
    return case


def replaced(case, path, value):
    case = copy.deepcopy(case)
    get(case, path[:-1])[path[-1]] = value
    return case


def lists_cut(case):
    """Lists with parts taken out: halves, quarters, single elements from the end."""
    for path in list(paths(case)):
        items = get(case, path)
        if not isinstance(items, list):
            continue
        n = len(items)
        while n > 1:
            n = (n + 1) // 2
            for first in range(len(items) - n, -1, -n):
                yield without(case, path, first, n)
            if n == 1:
                break
        if len(items) == 1 and path[-1] in ("timeline", "workload"):
            yield without(case, path)


def kept_names(topology, gone):
    """An explicit topology without a node and all of its links."""
    topology = copy.deepcopy(topology)
    for key in ("switches", "hosts"):
        topology[key] = [n for n in topology[key] if n != gone]
    topology["links"] = [ends for ends in topology["links"] if gone not in ends]
    return topology


def mentioned(case):
    """Hosts that some workload speaks of."""
    found = set()
    for item in case.get("workload", []):
        for key in ("from", "to"):
            value = item.get(key, [])
            found.update(value if isinstance(value, list) else [value])
    return found


def idle_out(case):
    """All hosts that no workload speaks of, at once."""
    topology = case["topology"]
    for gone in set(topology.get("hosts", [])) - mentioned(case):
        topology = kept_names(topology, gone)
    if topology is not case["topology"]:
        yield replaced(case, ("topology",), topology)


def nodes_out(case):
    """Hosts and switches; who mentions them forgets them."""
    topology = case["topology"]
    for gone in reversed(topology.get("hosts", []) + topology.get("switches", [])):
        smaller = replaced(case, ("topology",), kept_names(topology, gone))
        work = []
        for item in smaller.get("workload", []):
            if isinstance(item["from"], list):
                item["from"] = [n for n in item["from"] if n != gone]
            if item["from"] not in ([], gone) and item.get("to") != gone:
                work.append(item)
        smaller["workload"] = work
        for section in ("links", "hosts", "switches"):
            for pattern in [p for p in smaller.get(section, {})
                            if gone in re.split(r"[-:]", str(p))]:
                del smaller[section][pattern]
        yield smaller


def merged_out(topology, gone, into):
    """An explicit topology in which what hung on one switch hangs on another."""
    topology = copy.deepcopy(topology)
    topology["switches"].remove(gone)
    ends = [[into if n == gone else n for n in pair] for pair in topology["links"]]
    topology["links"] = [pair for pair in ends if pair[0] != pair[1]]
    return topology


def switches_merged(case):
    switches = case["topology"].get("switches", [])
    for gone in switches[1:]:
        yield replaced(case, ("topology",), merged_out(case["topology"], gone, switches[0]))


def leaf_spine_links(t):
    leaves, spines, per = (t.get(key, 2) for key in ("leaves", "spines", "hosts_per_leaf"))
    links = [[f"h{i}", f"leaf{i // per}"] for i in range(leaves * per)]
    return links + [[f"leaf{i}", f"spine{j}"] for i in range(leaves) for j in range(spines)]


def fat_tree_links(t):
    half = t.get("k", 4) // 2
    links = [[f"h{i}", f"edge{i // half}"] for i in range(2 * half ** 3)]
    for pod in range(2 * half):
        for j in range(half):
            agg = pod * half + j
            links += [[f"edge{pod * half + i}", f"agg{agg}"] for i in range(half)]
            links += [[f"agg{agg}", f"core{j * half + i}"] for i in range(half)]
    return links


def as_explicit(case):
    """A generated topology written out, so that its parts can go one by one."""
    links = {"leaf_spine": leaf_spine_links, "fat_tree": fat_tree_links}
    t = case["topology"]
    if t.get("kind", "leaf_spine") in links:
        links = links[t.get("kind", "leaf_spine")](t)
        nodes = list(dict.fromkeys(n for ends in links for n in ends))
        yield replaced(case, ("topology",), {
            "kind": "explicit", "links": links,
            "hosts": [n for n in nodes if re.fullmatch(r"h\d+", n)],
            "switches": [n for n in nodes if not re.fullmatch(r"h\d+", n)]})


def keys_out(case):
    """Keys back to their defaults, whole sections first."""
    for path in sorted(paths(case), key=len):
        if path[0] not in ("weft", "name", "time_limit") and path != ("topology",) and isinstance(path[-1], (str, int)) and \
                isinstance(get(case, path[:-1]), dict):
            yield without(case, path)


def smaller_numbers(value):
    m = re.fullmatch(r"(\d+)([a-zA-Z]*)", str(value))
    if not m or int(m.group(1)) == 0:
        return
    n, unit = int(m.group(1)), m.group(2)
    power = 10 ** (len(str(n)) - 1)
    for less in dict.fromkeys([1, n // power * power, n * 3 // 4 // power * power, n // 2, n - 1]):
        if 0 < less < n:
            yield f"{less}{unit}" if unit else less


def numbers_down(case):
    for path in list(paths(case)):
        if path[0] in ("weft", "name", "time_limit", "seed"):
            continue
        value = get(case, path)
        if not isinstance(value, (dict, list)):
            for less in smaller_numbers(value):
                yield replaced(case, path, less)


PASSES = [lists_cut, as_explicit, idle_out, nodes_out, switches_merged, keys_out, numbers_down]


def shrink(case, fails, tries=600):
    """The smallest case found for which fails(case) is true, and how many were tried."""
    done, again = 0, True
    while again and done < tries:
        again = False
        for step in PASSES:
            found = True
            while found and done < tries:
                found = False
                for smaller in step(case):
                    done += 1
                    if fails(smaller):
                        case, again = smaller, True
                        found = step is not as_explicit
                        break
                    if done >= tries:
                        break
    return case, done
