/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text that others wrote (names and comments in captures, what neighbours and peers say of
 * themselves, files' names) as it may go to a terminal: printable UTF-8. A control character (C0,
 * DEL, C1), what turns the direction of writing, and bytes that are no UTF-8 become '?' each. Left
 * out: letters that look like others.
 */
#ifndef WEFT_BASE_PLAIN_H
#define WEFT_BASE_PLAIN_H

#include <stdbool.h>
#include <stddef.h>

/* One field of a line, in place: also a tab or a new line becomes '?'. Returns text. */
char *wf_plain(char *text);

/*
 * A piece of a text of lines, in[0..len), into out, which may be in and gets at most len bytes:
 * how many it got. Tabs and new lines stay. *used: how many bytes were taken; less than len when
 * the last character's rest is missing, unless this is the end.
 */
size_t wf_plain_lines(const char *in, size_t len, bool end, char *out, size_t *used);

#endif
