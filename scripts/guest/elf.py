# SPDX-License-Identifier: BSD-3-Clause
"""As much of ELF64 little-endian as an image needs: sections, needed libraries, modinfo."""
import struct

SHT_STRTAB, SHT_DYNAMIC = 3, 6
DT_NEEDED = 1


def is_elf(data):
    return data[:6] == b'\x7fELF\x02\x01'


def sections(data):
    """Yield (name, type, link, bytes)."""
    shoff, = struct.unpack_from('<Q', data, 0x28)
    shentsize, shnum, shstrndx = struct.unpack_from('<HHH', data, 0x3a)
    heads = [struct.unpack_from('<IIQQQQII', data, shoff + i * shentsize) for i in range(shnum)]
    names = heads[shstrndx][4]
    for name, kind, _, _, off, size, link, _ in heads:
        start = names + name
        yield data[start:data.index(b'\0', start)].decode(), kind, link, data[off:off + size]


def needed(data):
    """The DT_NEEDED names of a program or shared object."""
    if not is_elf(data):
        return []
    found = list(sections(data))
    names = []
    for _, kind, link, body in found:
        if kind != SHT_DYNAMIC:
            continue
        strings = found[link][3]
        for tag, value in struct.iter_unpack('<qQ', body[:len(body) // 16 * 16]):
            if tag == DT_NEEDED:
                names.append(strings[value:strings.index(b'\0', value)].decode())
    return names


def modinfo(data):
    """The key=value pairs of a kernel module, in order."""
    for name, _, _, body in sections(data):
        if name == '.modinfo':
            return [tuple(x.decode('utf-8', 'replace').split('=', 1))
                    for x in body.split(b'\0') if b'=' in x]
    return []
