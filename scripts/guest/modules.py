#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""modules.py KERNELROOT LIST DEST: copy kernel modules, uncompressed, into a guest's root.

Writes DEST/etc/weft/modules (paths in load order) for the boot modules, and modules.dep and
modules.alias for modprobe.
"""
import lzma
import os
import subprocess
import sys

import elf


def read_module(path):
    if path.endswith('.zst'):
        return subprocess.run(['zstd', '-dcq', path], stdout=subprocess.PIPE, check=True).stdout
    with open(path, 'rb') as f:
        data = f.read()
    return lzma.decompress(data) if path.endswith('.xz') else data


class Tree:
    def __init__(self, kernel_root):
        lib = os.path.join(kernel_root, 'lib/modules')
        if not os.path.isdir(lib):
            lib = os.path.join(kernel_root, 'usr/lib/modules')
        self.release = os.listdir(lib)[0]
        self.paths, self.builtin, self.info, self.data = {}, set(), {}, {}
        for where, _, files in os.walk(os.path.join(lib, self.release)):
            for name in files:
                base = name.split('.ko')[0]
                if '.ko' in name:
                    self.paths[base.replace('-', '_')] = os.path.join(where, name)
        try:
            with open(os.path.join(lib, self.release, 'modules.builtin'), encoding='ascii') as f:
                self.builtin = {os.path.basename(x.strip())[:-3].replace('-', '_') for x in f}
        except FileNotFoundError:
            pass

    def load(self, name):
        if name not in self.data:
            self.data[name] = read_module(self.paths[name])
            self.info[name] = elf.modinfo(self.data[name])
        return self.info[name]

    def depends(self, name):
        deps = []
        for key, value in self.load(name):
            if key == 'depends':
                deps += [x.replace('-', '_') for x in value.split(',') if x]
            if key == 'softdep' and value.startswith('pre: '):
                deps += [x.replace('-', '_') for x in value[5:].split()]
        return [x for x in deps if x in self.paths]

    def add(self, name, order, optional):
        name = name.replace('-', '_')
        if name in order or name in self.builtin:
            return
        if name not in self.paths:
            if not optional:
                print(f'guest-image: kernel {self.release} has no module {name}', file=sys.stderr)
            return
        for dep in self.depends(name):
            self.add(dep, order, optional)
        order.append(name)


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    tree, boot, every = Tree(sys.argv[1]), [], []
    with open(sys.argv[2], encoding='ascii') as f:
        lines = [x.split() for x in f if x.strip() and x[0] != '#']
    for kind, *names in lines:
        for name in names:
            tree.add(name, boot if kind == 'boot' else every, kind != 'boot')
    if 'rdma_rxe' not in boot and 'rdma_rxe' not in tree.builtin:
        sys.exit(f'guest-image: kernel {tree.release} has no rdma_rxe (soft-RoCE); '
                 'the -cloud- kernels lack it, take another with --kernel')
    every = boot + [x for x in every if x not in boot]
    libdir = f'/usr/lib/modules/{tree.release}'
    os.makedirs(sys.argv[3] + libdir, exist_ok=True)
    os.makedirs(sys.argv[3] + '/etc/weft', exist_ok=True)
    for name in every:
        with open(f'{sys.argv[3]}{libdir}/{name}.ko', 'wb') as f:
            f.write(tree.data[name])
    with open(sys.argv[3] + '/etc/weft/modules', 'w', encoding='ascii') as f:
        f.writelines(f'{libdir}/{x}.ko\n' for x in boot)
    with open(f'{sys.argv[3]}{libdir}/modules.dep', 'w', encoding='ascii') as f:
        for name in every:
            deps = ' '.join(x + '.ko' for x in tree.depends(name) if x in every)
            f.write(f'{name}.ko: {deps}\n')
    with open(f'{sys.argv[3]}{libdir}/modules.alias', 'w', encoding='ascii') as f:
        for name in every:
            f.writelines(f'alias {v} {name}\n' for k, v in tree.info[name] if k == 'alias')


main()
