#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""kernel_elf.py BZIMAGE VMLINUX: take the ELF kernel out of a bzImage.

QEMU enters an ELF kernel with a PVH note directly. The decompressor of a bzImage would run inside
the guest, which without KVM costs more time than the rest of the boot.
Layout: Documentation/arch/x86/boot.rst (payload_offset, payload_length, setup_sects).
"""
import lzma
import struct
import subprocess
import sys
import zlib


def unpack(blob):
    if blob[:6] == b'\xfd7zXZ\0':
        return lzma.LZMADecompressor().decompress(blob)
    if blob[:2] == b'\x1f\x8b':
        return zlib.decompressobj(31).decompress(blob)
    if blob[:4] == b'\x28\xb5\x2f\xfd':
        try:
            # the kernel appends the unpacked size, which zstd takes for garbage behind the frame
            out = subprocess.run(['zstd', '-dcq'], input=blob, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, check=False).stdout
        except FileNotFoundError:
            sys.exit('this kernel is compressed with zstd: install the package zstd')
        return out
    sys.exit('kernel compressed in an unknown way, first bytes ' + blob[:6].hex())


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], 'rb') as f:
        image = f.read()
    if image[0x202:0x206] != b'HdrS':
        sys.exit(sys.argv[1] + ': not an x86 Linux kernel (no HdrS at 0x202)')
    setup_sects = image[0x1f1] or 4
    offset, length = struct.unpack_from('<II', image, 0x248)
    start = (setup_sects + 1) * 512 + offset
    elf = unpack(image[start:start + length])
    if elf[:4] != b'\x7fELF':
        sys.exit(sys.argv[1] + ': its payload is not an ELF kernel')
    with open(sys.argv[2], 'wb') as f:
        f.write(elf)


main()
