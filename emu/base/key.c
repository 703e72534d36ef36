/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/key.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/units.h"

static int set_bool(const char *s, bool *out, struct wf_err *err)
{
    if (!strcmp(s, "true") || !strcmp(s, "yes") || !strcmp(s, "on"))
        *out = true;
    else if (!strcmp(s, "false") || !strcmp(s, "no") || !strcmp(s, "off"))
        *out = false;
    else
        return wf_err_set(err, EINVAL, "'%s' is not a truth value, expected true or false", s);
    return 0;
}

static int set_enum(const struct wf_key *key, const char *s, int *out, struct wf_err *err)
{
    size_t n = 0, used = 0;
    char list[256] = "";

    for (; key->names[n]; n++) {
        if (!strcmp(key->names[n], s)) {
            *out = (int)n;
            return 0;
        }
        if (used < sizeof(list))
            used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", n ? ", " : "",
                                     key->names[n]);
    }
    wf_err_set(err, EINVAL, "'%s' is not one of %s", s, list);
    wf_err_suggest(err, s, key->names, n);
    return -EINVAL;
}

static int set_ip(const char *s, struct wf_ip_prefix *out, struct wf_err *err)
{
    char addr[64];
    const char *slash = strchr(s, '/');
    size_t n = slash ? (size_t)(slash - s) : strlen(s);
    struct wf_ip_prefix p = {0};
    uint64_t len;

    if (n < sizeof(addr)) {
        memcpy(addr, s, n);
        addr[n] = 0;
        if (inet_pton(AF_INET6, addr, p.addr) == 1) {
            p.family = 6;
        } else if (inet_pton(AF_INET, addr, p.addr + 12) == 1) {
            p.addr[10] = p.addr[11] = 0xff;
            p.family = 4;
        }
    }
    if (!p.family)
        return wf_err_set(err, EINVAL, "'%s' is not an IP address, expected such as 10.0.0.1/24",
                          s);
    len = p.family == 4 ? 32 : 128;
    if (slash && (wf_parse_uint(slash + 1, &len, NULL) || len > (p.family == 4 ? 32 : 128)))
        return wf_err_set(err, EINVAL, "'%s' has a bad prefix length", s);
    p.len = (uint8_t)len;
    *out = p;
    return 0;
}

static const char *bound_text(const struct wf_key *key, uint64_t v, char *buf, size_t len)
{
    switch (key->type) {
    case WF_KEY_TIME:
        return wf_time_text(v, buf, len);
    case WF_KEY_RATE:
        return wf_rate_text(v, buf, len);
    case WF_KEY_BYTES:
        return wf_bytes_text(v, buf, len);
    case WF_KEY_LENGTH:
        return wf_length_text(v, buf, len);
    case WF_KEY_PERCENT:
        return wf_percent_text((uint32_t)v, buf, len);
    case WF_KEY_FRACTION:
        return wf_millionths_text(v, buf, len);
    default:
        snprintf(buf, len, "%" PRIu64, v);
        return buf;
    }
}

static int out_of_bounds(const struct wf_key *key, const char *text, struct wf_err *err)
{
    char lo[32], hi[32];

    bound_text(key, key->min, lo, sizeof(lo));
    if (!key->max)
        return wf_err_set(err, ERANGE, "'%s' for %s is below %s", text, key->name, lo);
    return wf_err_set(err, ERANGE, "'%s' for %s is out of range, expected %s to %s", text,
                      key->name, lo, bound_text(key, key->max, hi, sizeof(hi)));
}

static int bound(const struct wf_key *key, uint64_t v, const char *text, struct wf_err *err)
{
    if ((!key->min && !key->max) || (v >= key->min && (!key->max || v <= key->max)))
        return 0;
    return out_of_bounds(key, text, err);
}

/* "3", "1/97" or "0.5" in lowest use: num and den fit 32 bits. */
static int parse_fraction(const char *s, struct wf_fraction *out, struct wf_err *err)
{
    const char *slash = strchr(s, '/'), *dot = strchr(s, '.');
    char digits[24] = "";
    uint64_t num, den = 1;

    if (slash && (size_t)(slash - s) < sizeof(digits)) {
        memcpy(digits, s, (size_t)(slash - s));
        if (wf_parse_uint(slash + 1, &den, NULL))
            den = 0;
    } else if (dot && strlen(s) < sizeof(digits)) {
        snprintf(digits, sizeof(digits), "%.*s%s", (int)(dot - s), s, dot + 1);
        for (const char *p = dot + 1; *p; p++)
            den *= 10;
    } else {
        snprintf(digits, sizeof(digits), "%s", s);
    }
    if (wf_parse_uint(digits, &num, NULL) || !den || num > UINT32_MAX || den > UINT32_MAX)
        return wf_err_set(err, EINVAL, "'%s' is not a fraction, expected such as 1/97, 4 or 0.5",
                          s);
    out->num = (uint32_t)num;
    out->den = (uint32_t)den;
    return 0;
}

static int set_fraction(const struct wf_key *key, const char *s, struct wf_fraction *out,
                        struct wf_err *err)
{
    struct wf_fraction f;
    int rc = parse_fraction(s, &f, err);
    unsigned __int128 v;

    if (rc)
        return rc;
    v = (unsigned __int128)f.num * 1000000; /* of f.den */
    if (v < (unsigned __int128)key->min * f.den ||
        (key->max && v > (unsigned __int128)key->max * f.den))
        return out_of_bounds(key, s, err);
    *out = f;
    return 0;
}

static int set_number(const struct wf_key *key, void *at, const char *text, struct wf_err *err)
{
    uint64_t v = 0;
    uint32_t ppm = 0;
    int rc;

    if (key->may_auto && !strcmp(text, "auto")) {
        *(uint64_t *)at = WF_KEY_AUTO;
        return 0;
    }
    switch (key->type) {
    case WF_KEY_TIME:
        rc = wf_parse_time(text, &v, err);
        break;
    case WF_KEY_RATE:
        rc = wf_parse_rate(text, &v, err);
        break;
    case WF_KEY_BYTES:
        rc = wf_parse_bytes(text, &v, err);
        break;
    case WF_KEY_LENGTH:
        rc = wf_parse_length(text, &v, err);
        break;
    case WF_KEY_PERCENT:
        rc = wf_parse_percent(text, &ppm, err);
        v = ppm;
        break;
    default:
        rc = wf_parse_uint(text, &v, err);
        if (!rc && key->type == WF_KEY_UINT && v > UINT32_MAX)
            rc = wf_err_set(err, ERANGE, "'%s' is too large", text);
        break;
    }
    if (!rc)
        rc = bound(key, v, text, err);
    if (rc)
        return rc;
    if (key->type == WF_KEY_UINT || key->type == WF_KEY_PERCENT)
        *(uint32_t *)at = (uint32_t)v;
    else
        *(uint64_t *)at = v;
    return 0;
}

int wf_key_set(const struct wf_key *key, void *base, const char *text, struct wf_err *err)
{
    void *at = (char *)base + key->off;

    switch (key->type) {
    case WF_KEY_BOOL:
        return set_bool(text, at, err);
    case WF_KEY_ENUM:
        return set_enum(key, text, at, err);
    case WF_KEY_STRING:
        *(const char **)at = text;
        return 0;
    case WF_KEY_MAC:
        return wf_parse_mac(text, at, err);
    case WF_KEY_IP:
        return set_ip(text, at, err);
    case WF_KEY_FRACTION:
        return set_fraction(key, text, at, err);
    case WF_KEY_MASK:
        return wf_err_set(err, EINVAL, "'%s' is not a list, expected such as [3, 4]", text);
    case WF_KEY_NAMES:
        return wf_err_set(err, EINVAL, "'%s' is not a list of names", text);
    case WF_KEY_MAP:
        return wf_err_set(err, EINVAL, "'%s' is not a map, expected such as {26: 3}", text);
    default:
        return set_number(key, at, text, err);
    }
}

static const char *mask_text(const struct wf_key *key, uint32_t mask, char *buf, size_t len)
{
    size_t used = (size_t)snprintf(buf, len, "[");
    const char *sep = "";

    for (unsigned i = 0; i < 32; i++)
        if (mask & (1u << i) && used < len) {
            used += key->names
                        ? (size_t)snprintf(buf + used, len - used, "%s%s", sep, key->names[i])
                        : (size_t)snprintf(buf + used, len - used, "%s%u", sep, i);
            sep = ", ";
        }
    if (used < len)
        snprintf(buf + used, len - used, "]");
    return buf;
}

/* Runs of the same value are folded: {0-25: 0, 26: 3, 27-63: 0} */
static const char *map_text(const uint8_t *map, size_t count, char *buf, size_t len)
{
    size_t used = (size_t)snprintf(buf, len, "{");

    for (size_t i = 0; i < count && used < len;) {
        size_t j = i;

        while (j + 1 < count && map[j + 1] == map[i])
            j++;
        if (j > i)
            used += (size_t)snprintf(buf + used, len - used, "%s%zu-%zu: %u", i ? ", " : "", i, j,
                                     map[i]);
        else
            used += (size_t)snprintf(buf + used, len - used, "%s%zu: %u", i ? ", " : "", i, map[i]);
        i = j + 1;
    }
    if (used < len)
        snprintf(buf + used, len - used, "}");
    return buf;
}

static const char *ip_text(const struct wf_ip_prefix *p, char *buf, size_t len)
{
    char a[INET6_ADDRSTRLEN] = "";

    if (!p->family)
        snprintf(buf, len, "-");
    else if (p->family == 4)
        snprintf(buf, len, "%s/%u", inet_ntop(AF_INET, p->addr + 12, a, sizeof(a)), p->len);
    else
        snprintf(buf, len, "%s/%u", inet_ntop(AF_INET6, p->addr, a, sizeof(a)), p->len);
    return buf;
}

static const char *names_text(const struct wf_names *names, char *buf, size_t len)
{
    size_t used = (size_t)snprintf(buf, len, names->n == 1 ? "" : "[");

    for (uint32_t i = 0; i < names->n && used < len; i++)
        used += (size_t)snprintf(buf + used, len - used, "%s%s", i ? ", " : "", names->v[i]);
    if (used < len && names->n != 1)
        snprintf(buf + used, len - used, "]");
    return buf;
}

const char *wf_key_text(const struct wf_key *key, const void *base, char *buf, size_t len)
{
    const void *at = (const char *)base + key->off;
    const uint8_t *m = at;
    const struct wf_fraction *f = at;

    if (key->may_auto && *(const uint64_t *)at == WF_KEY_AUTO) {
        snprintf(buf, len, "auto");
        return buf;
    }
    switch (key->type) {
    case WF_KEY_BOOL:
        snprintf(buf, len, "%s", *(const bool *)at ? "true" : "false");
        return buf;
    case WF_KEY_UINT:
        snprintf(buf, len, "%" PRIu32, *(const uint32_t *)at);
        return buf;
    case WF_KEY_UINT64:
        snprintf(buf, len, "%" PRIu64, *(const uint64_t *)at);
        return buf;
    case WF_KEY_TIME:
        return wf_time_text(*(const uint64_t *)at, buf, len);
    case WF_KEY_RATE:
        return wf_rate_text(*(const uint64_t *)at, buf, len);
    case WF_KEY_BYTES:
        return wf_bytes_text(*(const uint64_t *)at, buf, len);
    case WF_KEY_LENGTH:
        return wf_length_text(*(const uint64_t *)at, buf, len);
    case WF_KEY_PERCENT:
        return wf_percent_text(*(const uint32_t *)at, buf, len);
    case WF_KEY_ENUM:
        snprintf(buf, len, "%s", key->names[*(const int *)at]);
        return buf;
    case WF_KEY_STRING:
        snprintf(buf, len, "%s", *(const char *const *)at ? *(const char *const *)at : "-");
        return buf;
    case WF_KEY_MAC:
        snprintf(buf, len, "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5]);
        return buf;
    case WF_KEY_IP:
        return ip_text(at, buf, len);
    case WF_KEY_MASK:
        return mask_text(key, *(const uint32_t *)at, buf, len);
    case WF_KEY_MAP:
        return map_text(at, key->count, buf, len);
    case WF_KEY_NAMES:
        return names_text(at, buf, len);
    case WF_KEY_FRACTION:
        snprintf(buf, len, f->den == 1 ? "%" PRIu32 : "%" PRIu32 "/%" PRIu32, f->num, f->den);
        return buf;
    }
    return buf;
}

void wf_keyset_defaults(const struct wf_keyset *set, void *base)
{
    for (size_t i = 0; i < set->n_keys; i++) {
        const struct wf_key *k = &set->keys[i];
        bool absent = !k->def || !k->def[0];

        /* maps and masks start at zero; a module that wants another default fills it itself */
        if (!absent && k->type != WF_KEY_MASK && k->type != WF_KEY_MAP)
            WF_ASSERT(wf_key_set(k, base, k->def, NULL) == 0);
    }
    for (size_t i = 0; i < set->n_subs; i++) {
        const struct wf_key_sub *s = &set->subs[i];
        size_t n = s->count ? s->count : 1;

        for (size_t j = 0; j < n; j++)
            wf_keyset_defaults(s->set, (char *)base + s->off + j * s->set->size);
    }
}

const struct wf_key *wf_keyset_find(const struct wf_keyset *set, const char *name)
{
    for (size_t i = 0; i < set->n_keys; i++)
        if (!strcmp(set->keys[i].name, name))
            return &set->keys[i];
    return NULL;
}
