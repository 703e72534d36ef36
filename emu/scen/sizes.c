/* SPDX-License-Identifier: BSD-3-Clause */
#include "scen/sizes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/units.h"
#include "scen/lines.h"

enum { WHOLE = 1000000000, POINTS_MAX = 65536 };

#define PERMYRIAD(x) ((x)*100000u)
#define COUNT(a)     (sizeof(a) / sizeof((a)[0]))

static const struct wf_sizes_point web_search[] = {
    {0, 0},
    {10000, PERMYRIAD(1500)},
    {20000, PERMYRIAD(2000)},
    {30000, PERMYRIAD(3000)},
    {50000, PERMYRIAD(4000)},
    {80000, PERMYRIAD(5300)},
    {200000, PERMYRIAD(6000)},
    {1000000, PERMYRIAD(7000)},
    {2000000, PERMYRIAD(8000)},
    {5000000, PERMYRIAD(9000)},
    {10000000, PERMYRIAD(9700)},
    {30000000, WHOLE},
};

static const struct wf_sizes_point hadoop[] = {
    {0, 0},
    {100, PERMYRIAD(100)},
    {200, PERMYRIAD(200)},
    {300, PERMYRIAD(500)},
    {350, PERMYRIAD(1500)},
    {400, PERMYRIAD(2000)},
    {500, PERMYRIAD(3000)},
    {600, PERMYRIAD(4000)},
    {700, PERMYRIAD(5000)},
    {1000, PERMYRIAD(6000)},
    {2000, PERMYRIAD(6700)},
    {7000, PERMYRIAD(7000)},
    {30000, PERMYRIAD(7200)},
    {50000, PERMYRIAD(8200)},
    {80000, PERMYRIAD(8700)},
    {120000, PERMYRIAD(9000)},
    {300000, PERMYRIAD(9500)},
    {1000000, PERMYRIAD(9750)},
    {2000000, PERMYRIAD(9900)},
    {10000000, WHOLE},
};

static const struct wf_sizes_point storage[] = {
    {0, 0},
    {4000, PERMYRIAD(2293)},
    {8000, PERMYRIAD(6921)},
    {16000, PERMYRIAD(8061)},
    {32000, PERMYRIAD(9047)},
    {64000, PERMYRIAD(9353)},
    {128000, PERMYRIAD(9677)},
    {256000, PERMYRIAD(9753)},
    {2000000, WHOLE},
};

static const struct wf_sizes known[] = {
    {"web_search",
     "web search cluster, DCTCP (Alizadeh et al., SIGCOMM 2010), points as published with HPCC "
     "(SIGCOMM 2019)",
     web_search, COUNT(web_search)},
    {"hadoop",
     "Facebook's Hadoop cluster (Roy et al., SIGCOMM 2015), points as published with HPCC (SIGCOMM "
     "2019)",
     hadoop, COUNT(hadoop)},
    {"storage",
     "Alibaba's distributed storage of 2019, points as published with HPCC (SIGCOMM 2019)", storage,
     COUNT(storage)},
};

const struct wf_sizes *wf_sizes_known(size_t i)
{
    return i < COUNT(known) ? &known[i] : NULL;
}

const struct wf_sizes *wf_sizes_find(const char *name)
{
    for (size_t i = 0; i < COUNT(known); i++)
        if (!strcmp(known[i].name, name))
            return &known[i];
    return NULL;
}

/* One line into the point behind *n others. Shares are read in 10^-9 of what the file has, percent
 * or one. */
static int read_point(const struct wf_lines *l, uint64_t *bytes, uint64_t *share, uint32_t n,
                      struct wf_err *err)
{
    int rc = wf_lines_nano(l, 0, 1ull << 31, &bytes[n], err, "a size in bytes, up to 2147483648");

    bytes[n] /= WHOLE;
    if (!rc)
        rc = wf_lines_nano(l, 1, 100, &share[n], err, "a share from 0 to 100 (percent) or to 1");
    if (!rc && l->n > 2)
        rc = wf_lines_expected(l, 2, err, "two words, BYTES SHARE");
    if (!rc && n && bytes[n] < bytes[n - 1])
        rc = wf_lines_expected(l, 0, err, "no smaller size than in the line before");
    if (!rc && n && share[n] < share[n - 1])
        rc = wf_lines_expected(l, 1, err, "no smaller share than in the line before");
    return rc;
}

static int read_points(struct wf_lines *l, uint64_t *bytes, uint64_t *share, uint32_t *n,
                       struct wf_err *err)
{
    int rc = 0;

    while (!rc && wf_lines_next(l)) {
        if (*n == POINTS_MAX)
            return wf_err_at(err, EINVAL, l->file, l->line, 1, "more than %d points", POINTS_MAX);
        rc = read_point(l, bytes, share, *n, err);
        ++*n;
    }
    if (rc)
        return rc;
    if (!*n)
        return wf_lines_expected(l, 0, err, "a line such as 10000 15");
    l->end = false;
    if (share[*n - 1] != WHOLE && share[*n - 1] != 100ull * WHOLE)
        return wf_lines_expected(l, 1, err, "100 (percent) or 1 at the end");
    return bytes[*n - 1] ? 0 : wf_lines_expected(l, 0, err, "some size above 0");
}

int wf_sizes_parse(struct wf_sizes *out, struct wf_arena *arena, const char *file, const char *text,
                   size_t len, struct wf_err *err)
{
    struct wf_lines *l = malloc(sizeof(*l));
    uint64_t *bytes = malloc(POINTS_MAX * sizeof(*bytes));
    uint64_t *share = malloc(POINTS_MAX * sizeof(*share)), unit;
    struct wf_sizes_point *v;
    uint32_t n = 0;
    int rc;

    WF_ASSERT(l && bytes && share);
    wf_lines_begin(l, file, text, len, 0);
    rc = read_points(l, bytes, share, &n, err);
    if (!rc) {
        unit = share[n - 1] / WHOLE;
        v = WF_ARENA_ARRAY(arena, struct wf_sizes_point, n);
        for (uint32_t i = 0; i < n; i++)
            v[i] = (struct wf_sizes_point){bytes[i], (uint32_t)(share[i] / unit)};
        *out = (struct wf_sizes){.name = file, .source = file, .v = v, .n = n};
    }
    free(l);
    free(bytes);
    free(share);
    return rc;
}

uint64_t wf_sizes_draw(const struct wf_sizes *z, struct wf_prng *p)
{
    uint32_t u = (uint32_t)wf_prng_below(p, WHOLE), lo = 0, hi = z->n - 1;
    const struct wf_sizes_point *a, *b;
    uint64_t bytes;

    while (lo < hi) { /* the first point beyond u */
        uint32_t mid = (lo + hi) / 2;

        if (z->v[mid].share_ppb > u)
            hi = mid;
        else
            lo = mid + 1;
    }
    b = &z->v[lo];
    a = lo ? b - 1 : b;
    bytes = a->bytes;
    if (lo)
        bytes += (b->bytes - a->bytes) * (u - a->share_ppb) / (b->share_ppb - a->share_ppb);
    return bytes ? bytes : 1;
}

/* Sum over the pieces of share times twice the mean of its ends: twice the mean, in 10^-9 bytes. */
static unsigned __int128 twice_mean(const struct wf_sizes *z)
{
    unsigned __int128 sum = (unsigned __int128)z->v[0].share_ppb * 2 * z->v[0].bytes;

    for (uint32_t i = 1; i < z->n; i++)
        sum += (unsigned __int128)(z->v[i].share_ppb - z->v[i - 1].share_ppb) *
               (z->v[i].bytes + z->v[i - 1].bytes);
    return sum;
}

double wf_sizes_mean_bytes(const struct wf_sizes *z)
{
    return (double)twice_mean(z) / 2 / WHOLE;
}

uint64_t wf_sizes_interval_ps(const struct wf_sizes *z, uint64_t rate_bps, uint32_t load_ppm)
{
    /* 8 bits, 10^12 ps, 10^6 parts of the load, over 2 x 10^9 */
    unsigned __int128 ps = twice_mean(z) * 4000000000ull / load_ppm / rate_bps;

    return ps ? (uint64_t)ps : 1;
}
