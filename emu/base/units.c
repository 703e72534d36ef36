/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct unit {
    const char *name;
    uint64_t scale;
};

/* From the smallest up; the first is the base unit. */
static const struct unit time_units[] = {
    {"ps", 1}, {"ns", 1000}, {"us", 1000000}, {"ms", 1000000000}, {"s", 1000000000000}, {NULL, 0},
};
static const struct unit rate_units[] = {
    {"bps", 1},           {"kbps", 1000},          {"Mbps", 1000000},
    {"Gbps", 1000000000}, {"Tbps", 1000000000000}, {NULL, 0},
};
static const struct unit byte_units[] = {
    {"B", 1},          {"kB", 1000},       {"KiB", 1024},     {"MB", 1000000},
    {"MiB", 1u << 20}, {"GB", 1000000000}, {"GiB", 1u << 30}, {NULL, 0},
};

static const struct unit length_units[] = {
    {"mm", 1}, {"cm", 10}, {"m", 1000}, {"km", 1000000}, {NULL, 0},
};

static const struct unit *find_unit(const struct unit *units, const char *name)
{
    for (; units->name; units++)
        if (!strcmp(units->name, name))
            return units;
    return NULL;
}

static const char *unit_list(const struct unit *units, char *buf, size_t len)
{
    size_t used = 0;

    for (; units->name && used < len; units++)
        used += (size_t)snprintf(buf + used, len - used, "%s%s", used ? ", " : "", units->name);
    return buf;
}

/* Digits with an optional fraction times scale, exactly; -EINVAL form, -ERANGE, -EDOM not whole. */
static int scaled(const char *s, size_t len, uint64_t scale, uint64_t *out)
{
    unsigned __int128 v = 0, den = 1;
    size_t i = 0, digits = 0;
    int seen_dot = 0;

    for (; i < len; i++) {
        if (s[i] == '.' && !seen_dot) {
            seen_dot = 1;
            continue;
        }
        if (!isdigit((unsigned char)s[i]) || ++digits > 20)
            return -EINVAL;
        v = v * 10 + (unsigned)(s[i] - '0');
        if (seen_dot)
            den *= 10;
        if (v > UINT64_MAX)
            return -ERANGE;
    }
    if (!digits)
        return -EINVAL;
    v *= scale;
    if (v % den)
        return -EDOM;
    v /= den;
    if (v > UINT64_MAX - 1)
        return -ERANGE;
    *out = (uint64_t)v;
    return 0;
}

static int parse(const char *what, const struct unit *units, const char *s, uint64_t *out,
                 struct wf_err *err)
{
    char list[96];
    size_t num = strspn(s, "0123456789.");
    const char *name = s + num + strspn(s + num, " ");
    const struct unit *u;

    if (!strcmp(s, "0")) {
        *out = 0;
        return 0;
    }
    unit_list(units, list, sizeof(list));
    if (!num)
        return wf_err_set(err, EINVAL, "'%s' is not a %s, expected a number with one of %s", s,
                          what, list);
    if (!*name)
        return wf_err_set(err, EINVAL, "'%s' has no unit, expected a %s with one of %s", s, what,
                          list);
    u = find_unit(units, name);
    if (!u)
        return wf_err_set(err, EINVAL, "'%s' has the unknown unit '%s', expected one of %s", s,
                          name, list);
    switch (scaled(s, num, u->scale, out)) {
    case 0:
        return 0;
    case -EDOM:
        return wf_err_set(err, EINVAL, "'%s' is not a whole number of %s", s, units->name);
    case -ERANGE:
        return wf_err_set(err, ERANGE, "'%s' is too large", s);
    default:
        return wf_err_set(err, EINVAL, "'%s' is not a %s", s, what);
    }
}

int wf_parse_time(const char *s, uint64_t *ps, struct wf_err *err)
{
    int rc = parse("time", time_units, s, ps, err);

    if (!rc && *ps > WF_TIME_MAX)
        return wf_err_set(err, ERANGE, "'%s' is too long, expected at most 100 days (8640000s)", s);
    return rc;
}

int wf_parse_rate(const char *s, uint64_t *bps, struct wf_err *err)
{
    return parse("rate", rate_units, s, bps, err);
}

int wf_parse_bytes(const char *s, uint64_t *len, struct wf_err *err)
{
    return parse("size", byte_units, s, len, err);
}

int wf_parse_length(const char *s, uint64_t *mm, struct wf_err *err)
{
    return parse("length", length_units, s, mm, err);
}

int wf_parse_percent(const char *s, uint32_t *ppm, struct wf_err *err)
{
    size_t num = strspn(s, "0123456789.");
    uint64_t v;

    if (!strcmp(s, "0")) {
        *ppm = 0;
        return 0;
    }
    if (!num || strcmp(s + num + strspn(s + num, " "), "%"))
        return wf_err_set(err, EINVAL, "'%s' is not a percentage, expected such as '12.5%%'", s);
    if (scaled(s, num, 10000, &v))
        return wf_err_set(err, EINVAL, "'%s' has more than four decimals", s);
    if (v > 1000000)
        return wf_err_set(err, ERANGE, "'%s' is more than 100%%", s);
    *ppm = (uint32_t)v;
    return 0;
}

int wf_parse_uint(const char *s, uint64_t *v, struct wf_err *err)
{
    char *end;
    int hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');

    errno = 0;
    if (!isdigit((unsigned char)s[0]))
        return wf_err_set(err, EINVAL, "'%s' is not a whole number", s);
    *v = strtoumax(s, &end, hex ? 16 : 10);
    if (errno == ERANGE)
        return wf_err_set(err, ERANGE, "'%s' is too large", s);
    if (*end || (hex && end == s + 1))
        return wf_err_set(err, EINVAL, "'%s' is not a whole number", s);
    return 0;
}

int wf_parse_mac(const char *s, uint8_t mac[6], struct wf_err *err)
{
    unsigned b[6];
    int n = 0;

    if (strlen(s) != 17 ||
        sscanf(s, "%2x:%2x:%2x:%2x:%2x:%2x%n", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5], &n) != 6 ||
        n != 17)
        return wf_err_set(err, EINVAL, "'%s' is not a MAC address, expected aa:bb:cc:dd:ee:ff", s);
    for (int i = 0; i < 6; i++)
        mac[i] = (uint8_t)b[i];
    return 0;
}

/* v in the largest unit that needs at most `decimals` decimals to be exact. */
static const char *exact(const struct unit *units, uint64_t v, char *buf, size_t len)
{
    const struct unit *best = units;

    if (!v) {
        snprintf(buf, len, "0");
        return buf;
    }
    for (const struct unit *u = units; u->name; u++)
        if (u->scale <= v && v % u->scale == 0)
            best = u;
    /* 1500 ns reads better as 1.5us: allow up to three decimals in a decimal unit */
    for (const struct unit *u = best + 1; u->name && best->scale; u++)
        if (u->scale <= v && u->scale % 1000 == 0 && v % (u->scale / 1000) == 0) {
            char frac[8];
            int n =
                snprintf(frac, sizeof(frac), "%03u", (unsigned)(v % u->scale / (u->scale / 1000)));

            while (n > 1 && frac[n - 1] == '0')
                frac[--n] = 0;
            snprintf(buf, len, "%" PRIu64 ".%s%s", v / u->scale, frac, u->name);
            return buf;
        }
    snprintf(buf, len, "%" PRIu64 "%s", v / best->scale, best->name);
    return buf;
}

const char *wf_time_text(uint64_t ps, char *buf, size_t len)
{
    return exact(time_units, ps, buf, len);
}

const char *wf_rate_text(uint64_t bps, char *buf, size_t len)
{
    return exact(rate_units, bps, buf, len);
}

const char *wf_bytes_text(uint64_t bytes, char *buf, size_t len)
{
    return exact(byte_units, bytes, buf, len);
}

const char *wf_length_text(uint64_t mm, char *buf, size_t len)
{
    return exact(length_units, mm, buf, len);
}

const char *wf_percent_text(uint32_t ppm, char *buf, size_t len)
{
    char frac[8];
    int n = snprintf(frac, sizeof(frac), "%04u", ppm % 10000);

    while (n > 0 && frac[n - 1] == '0')
        frac[--n] = 0;
    snprintf(buf, len, "%u%s%s%%", ppm / 10000, n ? "." : "", frac);
    return buf;
}

const char *wf_millionths_text(uint64_t v, char *buf, size_t len)
{
    char frac[8];
    int n = snprintf(frac, sizeof(frac), "%06u", (unsigned)(v % 1000000));

    while (n > 0 && frac[n - 1] == '0')
        frac[--n] = 0;
    snprintf(buf, len, "%" PRIu64 "%s%s", v / 1000000, n ? "." : "", frac);
    return buf;
}

/* Decimal units only, four significant digits, rounded to nearest. */
static const char *rounded(const struct unit *units, uint64_t v, char *buf, size_t len)
{
    const struct unit *best = units;
    double x;

    for (const struct unit *u = units; u->name; u++)
        if (u->scale <= v && (u->scale & (u->scale - 1) || u->scale == 1))
            best = u;
    x = (double)v / (double)best->scale;
    if (best == units)
        snprintf(buf, len, "%" PRIu64 "%s", v, best->name);
    else
        snprintf(buf, len, "%.*f%s", x >= 1000 ? 0 : x >= 100 ? 1 : x >= 10 ? 2 : 3, x, best->name);
    return buf;
}

const char *wf_time_short(uint64_t ps, char *buf, size_t len)
{
    return rounded(time_units, ps, buf, len);
}

const char *wf_rate_short(uint64_t bps, char *buf, size_t len)
{
    return rounded(rate_units, bps, buf, len);
}

const char *wf_bytes_short(uint64_t bytes, char *buf, size_t len)
{
    return rounded(byte_units, bytes, buf, len);
}
