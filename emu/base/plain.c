/* SPDX-License-Identifier: BSD-3-Clause */
/* See plain.h. UTF-8 is RFC 3629's: shortest forms, no surrogates, up to U+10FFFF. */
#include "base/plain.h"

#include <stdint.h>
#include <string.h>

/* What a lead byte promises: 1 for ASCII and for what is none. */
static size_t promised(uint8_t c)
{
    return c < 0xc2 || c > 0xf4 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

static bool follows(const uint8_t *s, size_t i)
{
    uint8_t min = 0x80, max = 0xbf;

    if (i == 1) {
        min = s[0] == 0xe0 ? 0xa0 : s[0] == 0xf0 ? 0x90 : min;
        max = s[0] == 0xed ? 0x9f : s[0] == 0xf4 ? 0x8f : max;
    }
    return s[i] >= min && s[i] <= max;
}

static bool harmful(uint32_t c, bool lines)
{
    if (c == '\n' || c == '\t')
        return !lines;
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/* The bytes of the character at s, or of what is none (*plain is false); 0: its rest is missing. */
static size_t look(const uint8_t *s, size_t len, bool lines, bool *plain)
{
    size_t n = promised(s[0]), i;
    uint32_t c = n == 1 ? s[0] : s[0] & (0x7fu >> n);

    *plain = false;
    for (i = 1; i < n && i < len; i++) {
        if (!follows(s, i))
            return i;
        c = c << 6 | (s[i] & 0x3fu);
    }
    if (i < n)
        return 0;
    *plain = (n > 1 || s[0] < 0x80) && !harmful(c, lines);
    return n;
}

static size_t copy(const char *in, size_t len, bool lines, bool end, char *out, size_t *used)
{
    size_t at = 0, n = 0;

    while (at < len) {
        bool plain;
        size_t took = look((const uint8_t *)in + at, len - at, lines, &plain);

        if (!took && !end)
            break;
        took = took ? took : len - at;
        if (plain) {
            memmove(out + n, in + at, took);
            n += took;
        } else {
            out[n++] = '?';
        }
        at += took;
    }
    *used = at;
    return n;
}

char *wf_plain(char *text)
{
    size_t used;

    text[copy(text, strlen(text), false, true, text, &used)] = '\0';
    return text;
}

size_t wf_plain_lines(const char *in, size_t len, bool end, char *out, size_t *used)
{
    return copy(in, len, true, end, out, used);
}
