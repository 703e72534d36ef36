#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""cpio.py tree ROOT OUT | cpio.py agent PROGRAM OUT: write an initramfs (newc, uncompressed).

Everything belongs to root, and the order is fixed, so equal input gives equal bytes. The agent
becomes /init, in an archive of its own: the kernel unpacks archives that follow one another, so a
new agent needs no new tree. /dev/console is in it: the kernel opens it before anything is mounted.
"""
import os
import stat
import sys


class Archive:
    def __init__(self, out):
        self.out, self.ino = out, 0

    def put(self, name, mode, data=b'', rdev=(0, 0)):
        self.ino += 1
        raw = name.encode() + b'\0'
        fields = (self.ino, mode, 0, 0, 1, 0, len(data), 0, 0, rdev[0], rdev[1], len(raw), 0)
        head = b'070701' + b''.join(b'%08X' % x for x in fields)
        self.pad(head + raw)
        self.pad(data)

    def pad(self, data):
        self.out.write(data)
        self.out.write(b'\0' * (-len(data) % 4))


def add_tree(archive, root):
    for where, dirs, files in os.walk(root):
        dirs.sort()
        for name in sorted(files + dirs):
            path = os.path.join(where, name)
            mode = os.lstat(path).st_mode
            rel = os.path.relpath(path, root)
            if stat.S_ISLNK(mode):
                archive.put(rel, mode, os.readlink(path).encode())
            elif stat.S_ISDIR(mode):
                archive.put(rel, mode & ~0o7000 | 0o755)
            elif stat.S_ISREG(mode):
                with open(path, 'rb') as f:
                    archive.put(rel, mode | 0o444, f.read())


def add_agent(archive, program):
    archive.put('dev', stat.S_IFDIR | 0o755)
    archive.put('dev/console', stat.S_IFCHR | 0o600, rdev=(5, 1))
    with open(program, 'rb') as f:
        archive.put('init', stat.S_IFREG | 0o755, f.read())


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ('tree', 'agent'):
        sys.exit(__doc__)
    with open(sys.argv[3], 'wb') as out:
        archive = Archive(out)
        (add_tree if sys.argv[1] == 'tree' else add_agent)(archive, sys.argv[2])
        archive.put('TRAILER!!!', 0)


main()
