/* SPDX-License-Identifier: BSD-3-Clause */
#include "scen/lines.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

void wf_lines_begin(struct wf_lines *l, const char *file, const char *text, size_t len,
                    char separator)
{
    *l = (struct wf_lines){.file = file, .text = text, .len = len, .separator = separator};
}

static bool blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* [from, to) without blanks around it. */
static void add_word(struct wf_lines *l, size_t start, size_t from, size_t to)
{
    while (from < to && blank(l->text[from]))
        from++;
    while (to > from && blank(l->text[to - 1]))
        to--;
    l->more = l->n == WF_LINE_WORDS_MAX;
    if (l->more)
        return;
    l->words[l->n].off = (uint32_t)from;
    l->words[l->n].len = (uint32_t)(to - from);
    l->words[l->n++].col = (int)(from - start) + 1;
}

static void split(struct wf_lines *l, size_t start, size_t end)
{
    size_t at = start;

    l->n = 0;
    l->more = false;
    while (at < end) {
        size_t to = at;

        if (l->separator) {
            while (to < end && l->text[to] != l->separator)
                to++;
            add_word(l, start, at, to);
            if (to + 1 == end) /* an empty one at the end */
                add_word(l, start, end, end);
            at = to + 1;
            continue;
        }
        while (at < end && blank(l->text[at]))
            at++;
        for (to = at; to < end && !blank(l->text[to]);)
            to++;
        if (to > at)
            add_word(l, start, at, to);
        at = to;
    }
}

bool wf_lines_next(struct wf_lines *l)
{
    while (l->at < l->len) {
        const char *from = l->text + l->at, *nl = memchr(from, '\n', l->len - l->at);
        size_t start = l->at, end = nl ? (size_t)(nl - l->text) : l->len, at = start;
        const char *hash = memchr(from, '#', end - start);
        size_t to = hash ? (size_t)(hash - l->text) : end;

        l->at = end + 1;
        l->next_line++;
        while (at < to && blank(l->text[at]))
            at++;
        if (at == to)
            continue;
        l->line = l->next_line;
        split(l, start, to);
        return true;
    }
    l->end = true;
    return false;
}

const char *wf_lines_word(const struct wf_lines *l, uint32_t i, char *buf)
{
    uint32_t len = i < l->n ? l->words[i].len : 0;

    if (len >= WF_LINE_WORD_MAX)
        len = WF_LINE_WORD_MAX - 1;
    if (len)
        memcpy(buf, l->text + l->words[i].off, len);
    buf[len] = 0;
    return buf;
}

bool wf_lines_is(const struct wf_lines *l, uint32_t i, const char *word)
{
    return i < l->n && l->words[i].len == strlen(word) &&
           !strncasecmp(l->text + l->words[i].off, word, l->words[i].len);
}

int wf_lines_expected(const struct wf_lines *l, uint32_t i, struct wf_err *err, const char *what)
{
    char word[WF_LINE_WORD_MAX];

    if (l->end)
        return wf_err_at(err, EINVAL, l->file, l->next_line + 1, 1,
                         "expected %s, found the end of the file", what);
    if (i >= l->n)
        return wf_err_at(err, EINVAL, l->file, l->line,
                         l->words[l->n - 1].col + (int)l->words[l->n - 1].len,
                         "expected %s, found the end of the line", what);
    return wf_err_at(err, EINVAL, l->file, l->line, l->words[i].col, "expected %s, found '%s'",
                     what, wf_lines_word(l, i, word));
}

int wf_lines_uint(const struct wf_lines *l, uint32_t i, uint64_t min, uint64_t max, uint64_t *out,
                  struct wf_err *err, const char *what)
{
    char word[WF_LINE_WORD_MAX];

    if (i < l->n && l->words[i].len < 20 && !wf_parse_uint(wf_lines_word(l, i, word), out, NULL) &&
        *out >= min && *out <= max)
        return 0;
    return wf_lines_expected(l, i, err, what);
}

int wf_lines_nano(const struct wf_lines *l, uint32_t i, uint64_t max, uint64_t *out,
                  struct wf_err *err, const char *what)
{
    char word[WF_LINE_WORD_MAX];
    const char *c = wf_lines_word(l, i, word);
    uint64_t whole = 0, part = 0, unit = 1000000000;
    bool digits = false;

    for (; *c >= '0' && *c <= '9' && whole <= max; c++, digits = true)
        whole = 10 * whole + (uint64_t)(*c - '0');
    if (*c == '.')
        for (c++; *c >= '0' && *c <= '9'; c++, digits = true) {
            unit /= 10; /* digits behind the ninth are too fine to count */
            part += unit * (uint64_t)(*c - '0');
        }
    *out = whole * 1000000000 + part;
    if (digits && !*c && (whole < max || (whole == max && !part)))
        return 0;
    return wf_lines_expected(l, i, err, what);
}
