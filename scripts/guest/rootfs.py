#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""rootfs.py UNPACKED LIST DEST [WHOLE...]: put a guest's root together.

UNPACKED holds one directory a package, with the package's files. LIST names what is picked from
the base packages (scripts/guest/base-packages). WHOLE are the packages taken as they are, apart
from documentation: what a user asked for, with all it depends on. No maintainer script runs.
"""
import fnmatch
import os
import shutil
import subprocess
import sys

import elf

MERGED = ('bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32')
LEFT_OUT = ('/usr/share/doc/*', '/usr/share/man/*', '/usr/share/info/*', '/usr/share/locale/*',
            '/usr/share/lintian/*', '/usr/share/bash-completion/*', '/usr/share/bug/*',
            '/usr/share/i18n/*', '/usr/lib/*/gconv/*', '/usr/include/*', '*.a', '/etc/init.d/*',
            '/etc/cron*', '/usr/lib/systemd/*')
ALTERNATIVES = ('.openmpi', '.mpich')  # what update-alternatives would have linked to the name


def merged(path):
    """The path in a root with /bin, /lib ... merged into /usr."""
    first = path.split('/', 2)[1]
    return '/usr' + path if first in MERGED else path


class Packages:
    """All files of all packages, by their path in a merged root."""

    def __init__(self, unpacked):
        self.by_package, self.files, self.libs = {}, {}, {}
        for package in sorted(os.listdir(unpacked)):
            top = os.path.join(unpacked, package)
            mine = self.by_package[package] = {}
            for where, dirs, files in os.walk(top):
                for name in files + [x for x in dirs if os.path.islink(os.path.join(where, x))]:
                    path = os.path.join(where, name)
                    mine[merged(path[len(top):])] = path
            self.files.update(mine)
        for path, source in self.files.items():
            if '.so' in path and path.startswith('/usr/lib'):
                # a library directly in the search path goes before one in a subdirectory
                name = os.path.basename(path)
                if name not in self.libs or path.count('/') < self.libs[name].count('/'):
                    self.libs[name] = path

    def named(self, package):
        """A package's files; Debian 13 renamed libraries for 64-bit times (librdmacm1t64)."""
        return self.by_package.get(package) or self.by_package.get(package + 't64')


class Root:
    def __init__(self, packages, dest):
        self.packages, self.dest, self.done = packages, dest, set()

    def add(self, path):
        """Copy one file, what its links lead to, and the libraries it needs."""
        if path in self.done:
            return
        self.done.add(path)
        source = self.packages.files[path]
        to = self.dest + path
        os.makedirs(os.path.dirname(to), exist_ok=True)
        if os.path.islink(source):
            link = os.readlink(source)
            target = merged(os.path.normpath(os.path.join(os.path.dirname(path), link)))
            if os.path.isabs(link):
                link = target
            os.symlink(link, to)
            if target in self.packages.files:
                self.add(target)
            return
        shutil.copyfile(source, to)
        os.chmod(to, os.stat(source).st_mode & 0o777)
        with open(source, 'rb') as f:
            data = f.read() if f.read(4) == b'\x7fELF' and not f.seek(0) else b''
        for name in elf.needed(data):
            self.add_library(name, path)

    def add_library(self, name, wanted_by):
        path = self.packages.libs.get(name)
        if path:
            self.add(path)
            # a library found in a private directory is reached through the common one
            common = '/usr/lib/x86_64-linux-gnu/' + name
            if os.path.dirname(path) not in ('/usr/lib/x86_64-linux-gnu', '/usr/lib', '/usr/lib64') \
                    and not os.path.lexists(self.dest + common):
                os.symlink(path, self.dest + common)
        elif not name.startswith('ld-linux'):
            print(f'guest-image: {wanted_by} needs {name}, which no package here has',
                  file=sys.stderr)

    def pick(self, package, patterns):
        mine = self.packages.named(package)
        if mine is None:
            sys.exit(f'guest-image: package {package} was not fetched')
        for pattern in patterns:
            globs = ['/usr/bin/' + pattern, '/usr/sbin/' + pattern]
            if pattern == '-':
                globs = ['/usr/lib/x86_64-linux-gnu/*.so', '/usr/lib/x86_64-linux-gnu/*.so.*']
            elif '/' in pattern:
                globs = [pattern]
            hits = [p for p in mine for g in globs
                    if fnmatch.fnmatch(p, g) and p.count('/') == g.count('/')]
            if not hits:
                print(f'guest-image: package {package} has nothing like {pattern}',
                      file=sys.stderr)
            for path in hits:
                self.add(path)

    def whole(self, package):
        for path in self.packages.named(package) or {}:
            if any(fnmatch.fnmatch(path, x) for x in LEFT_OUT):
                continue
            self.add(path)
            stem, suffix = os.path.splitext(path)
            if suffix in ALTERNATIVES and not os.path.lexists(self.dest + stem):
                os.symlink(os.path.basename(path), self.dest + stem)


def skeleton(dest):
    for name in ('bin', 'sbin', 'lib', 'lib64'):
        os.makedirs(f'{dest}/usr/{name}', exist_ok=True)
        os.symlink('usr/' + name, f'{dest}/{name}')
    for name in ('proc', 'sys', 'run', 'tmp', 'root', 'etc', 'var/tmp', 'var/log', 'mnt', 'home'):
        os.makedirs(f'{dest}/{name}', exist_ok=True)
    texts = {
        'passwd': 'root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:::/bin/false\n',
        'group': 'root:x:0:\nnogroup:x:65534:\n',
        'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\nservices: files\n',
        'hosts': '127.0.0.1 localhost\n::1 localhost\n',
    }
    for name, text in texts.items():
        with open(f'{dest}/etc/{name}', 'w', encoding='ascii') as f:
            f.write(text)


def applets(dest):
    """busybox stands in for every program that no package brought."""
    names = subprocess.run([dest + '/usr/bin/busybox', '--list'], stdout=subprocess.PIPE,
                           check=True, text=True).stdout.split()
    for name in names:
        if not any(os.path.lexists(f'{dest}/usr/{d}/{name}') for d in ('bin', 'sbin')):
            os.symlink('busybox', f'{dest}/usr/bin/{name}')
    # scripts get a shell that looks programs up in PATH; busybox's prefers its own applets
    os.remove(dest + '/usr/bin/sh')
    os.symlink('dash', dest + '/usr/bin/sh')


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    unpacked, pick_list, dest = sys.argv[1:4]
    skeleton(dest)
    root = Root(Packages(unpacked), dest)
    with open(pick_list, encoding='ascii') as f:
        for line in f:
            if line.strip() and line[0] != '#':
                package, *patterns = line.split()
                root.pick(package, patterns)
    for package in sys.argv[4:]:
        root.whole(package)
    applets(dest)


main()
