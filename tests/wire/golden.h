/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames typed in from elsewhere, so that our encoder is not its own judge.
 * CNP_CX4: captured on a ConnectX-4 Lx, as published in scapy's RoCE tests (a hex dump, 2018).
 * UC_SEND: the same tests' UC SEND Only on one host, with the fields they assert (IPv4 checksum
 * b4d5, UDP checksum aca2, ICRC 78f353f3).
 */
#ifndef WEFT_TESTS_WIRE_GOLDEN_H
#define WEFT_TESTS_WIRE_GOLDEN_H

#define CNP_CX4                                                                                    \
    "e41d 2dab 2bc2 7cfe 9064 3b32 0800 45c2 003c 718c 4000 4011 9161 0a00 1101 0a00"              \
    "1201 0000 12b7 0028 0000 8100 ffff 4000 0118 0000 0000 0000 0000 0000 0000 0000"              \
    "0000 0000 0000 82fd 002a"

/* opcode 0x24, M 1, pad 2: 0x60; dqpn 211, psn 13571856 = 0xcf1710 */
#define UC_SEND                                                                                    \
    "248a07a8fa22 248a07a8fa22 0800"                                                               \
    "4501 0040 0478 4000 4011 b4d5 c0a80007 c0a80007"                                              \
    "c000 12b7 002c aca2"                                                                          \
    "24 60 ffff 00 0000d3 00 cf1710"                                                               \
    "4630818be28935d90e9a95505401be885e500000"                                                     \
    "78f353f3"

#endif
