/* SPDX-License-Identifier: BSD-3-Clause */
/* A line of fields that tshark printed, in one form whatever its version. */
#ifndef WEFT_TESTS_TSHARK_H
#define WEFT_TESTS_TSHARK_H

#include <stdbool.h>
#include <string.h>

/* What ends a value: the line, a blank between fields, a comma between occurrences. */
static inline bool wft_tshark_ends(char c)
{
    return !c || c == '\n' || c == ' ' || c == ',';
}

/* The value at `from` in the form of tshark 4.0, and where it ends: a flag is 1 or 0; since
 * tshark 4.2 it is a word. */
static inline const char *wft_tshark_flag(const char *from, char *to)
{
    static const char *const words[] = {"False", "True"};

    for (int i = 0; i < 2; i++)
        if (!strncmp(from, words[i], strlen(words[i])) && wft_tshark_ends(from[strlen(words[i])])) {
            *to = (char)('0' + i);
            return from + strlen(words[i]);
        }
    return NULL;
}

/* Fields that a frame lacks leave nothing behind: single blanks between the others, none at the
 * ends, and no newline. */
static inline void wft_tshark_line(char *line)
{
    const char *from = line, *next;
    char *to = line;

    while (*from && *from != '\n') {
        bool begins = to == line || wft_tshark_ends(to[-1]);

        if (begins && (next = wft_tshark_flag(from, to)) != NULL) {
            to++;
            from = next;
        } else if (*from != ' ' || (to > line && to[-1] != ' ')) {
            *to++ = *from++;
        } else {
            from++;
        }
    }
    if (to > line && to[-1] == ' ')
        to--;
    *to = 0;
}

#endif
