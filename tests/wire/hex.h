/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of the wire tests: bytes from hex text, captures beside the source, a plain CRC-32. */
#ifndef WEFT_TESTS_WIRE_HEX_H
#define WEFT_TESTS_WIRE_HEX_H

#include <ctype.h>
#include <pcap/pcap.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Hex digits of `text`, other characters skipped, into buf. Returns the number of bytes. */
static inline uint32_t hex_bytes(const char *text, uint8_t *buf, size_t room)
{
    uint32_t n = 0;
    int high = -1;

    for (; *text && n < room; text++) {
        int c = tolower((unsigned char)*text), v;

        if (!isxdigit(c))
            continue;
        v = c <= '9' ? c - '0' : c - 'a' + 10;
        if (high < 0) {
            high = v;
        } else {
            buf[n++] = (uint8_t)(high << 4 | v);
            high = -1;
        }
    }
    return n;
}

/* Bit by bit as the standard defines it, for checking the fast one. */
static inline uint32_t plain_crc32(uint32_t crc, const void *buf, size_t len)
{
    const uint8_t *p = buf;

    crc = ~crc;
    for (; len; len--) {
        crc ^= *p++;
        for (int i = 0; i < 8; i++)
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    return ~crc;
}

/* Where a capture of the test set is: below $WEFT_CAPTURES, else beside the source; the last place
 * looked at when it is nowhere. Returns path. */
static inline const char *capture_path(const char *name, char *path, size_t len)
{
    static const char *const beside[] = {"../shared/captures", "../../shared/captures"};
    const char *dir = getenv("WEFT_CAPTURES"), *src = getenv("WEFT_SOURCE");

    for (size_t i = 0; i < (dir ? 1 : 2); i++) {
        if (dir)
            snprintf(path, len, "%s/%s", dir, name);
        else
            snprintf(path, len, "%s/%s/%s", src ? src : ".", beside[i], name);
        if (!access(path, R_OK))
            break;
    }
    return path;
}

/* Opens it. NULL, with a message, when it is not there: the test then skips. */
static inline pcap_t *capture_open(const char *name)
{
    char path[4096], err[PCAP_ERRBUF_SIZE];
    pcap_t *p = pcap_open_offline(capture_path(name, path, sizeof(path)), err);

    if (!p)
        printf("skipped: no capture %s (set WEFT_CAPTURES to the folder of captures)\n", path);
    return p;
}

#endif
