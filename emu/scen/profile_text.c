/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The line about profiles in a summary: which ones, and what the scenario changed of the switches
 * that they make. Numbered keys that differ in their number only are folded: "pg.0-2,4.limit".
 */
#include <ctype.h>
#include <string.h>

#include "scen/scen_priv.h"

enum { SHOWN = 8 };

/* "pg." and "limit" of "pg.3.limit", and 3. */
struct split {
    size_t head;
    unsigned number;
    const char *tail;
};

static bool split(const char *name, struct split *x)
{
    for (const char *c = name; *c; c++)
        if (c > name && c[-1] == '.' && isdigit((unsigned char)c[0]) && c[1] == '.') {
            *x = (struct split){(size_t)(c - name), (unsigned)(*c - '0'), c + 1};
            return true;
        }
    return false;
}

static bool alike(const char *a, const char *b)
{
    struct split x, y;

    return split(a, &x) && split(b, &y) && x.head == y.head && !strncmp(a, b, x.head) &&
           !strcmp(x.tail, y.tail);
}

static void print_numbers(FILE *out, unsigned set)
{
    const char *sep = "";

    for (unsigned i = 0; i < 10; i++) {
        unsigned j = i;

        if (!(set >> i & 1))
            continue;
        while (set >> (j + 1) & 1)
            j++;
        fprintf(out, j > i ? "%s%u-%u" : "%s%u", sep, i, j);
        sep = ",";
        i = j;
    }
}

/* The i-th with all that are like it; false when an earlier one has told of it. */
static bool print_change(FILE *out, const struct wf_changes *c, size_t i, const char *sep)
{
    unsigned set = 0;
    struct split x;

    if (!split(c->names[i], &x)) {
        fprintf(out, "%s%s", sep, c->names[i]);
        return true;
    }
    for (size_t k = 0; k < c->n; k++) {
        struct split y;

        if (!alike(c->names[i], c->names[k]) || !split(c->names[k], &y))
            continue;
        if (k < i)
            return false;
        set |= 1u << y.number;
    }
    fprintf(out, "%s%.*s", sep, (int)x.head, c->names[i]);
    print_numbers(out, set);
    fputs(x.tail, out);
    return true;
}

void wf_scenario_profiles(const struct wf_scenario *s, FILE *out)
{
    const struct wf_changes *c = &s->changes;
    const char *sep = " (changed: ";
    size_t shown = 0, i = 0;

    if (!s->n_profiles)
        return;
    for (uint32_t k = 0; k < s->n_profiles; k++)
        fprintf(out, "%s%s",
                k                   ? ", "
                : s->n_profiles > 1 ? "profiles "
                                    : "profile ",
                s->profiles[k]);
    for (; i < c->n && shown < SHOWN; i++)
        if (print_change(out, c, i, sep)) {
            sep = ", ";
            shown++;
        }
    if (i < c->n || c->more)
        fputs(", and more", out);
    if (c->n)
        fputs(")", out);
}
