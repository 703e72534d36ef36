/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables as SONiC's commands print them: right-aligned columns, each two wider than its title at
 * least, two blanks between them, a line of dashes.
 */
#include <inttypes.h>
#include <string.h>

#include "ctl/sonic.h"

enum { COLUMNS_MAX = 24, CELL_MAX = 160 };

/* 1234567 as 1,234,567 */
static const char *thousands(const char *digits, char *buf, size_t len)
{
    size_t n = strlen(digits), at = 0;

    for (size_t i = 0; i < n && at + 2 < len; i++) {
        if (i && (n - i) % 3 == 0)
            buf[at++] = ',';
        buf[at++] = digits[i];
    }
    buf[at] = '\0';
    return buf;
}

static const char *byte_rate(double v, char *buf, size_t len)
{
    const char *unit = v > 1e7 ? "MB" : v > 1e4 ? "KB" : "B";

    snprintf(buf, len, "%.2f %s/s", v > 1e7 ? v / 1e6 : v > 1e4 ? v / 1e3 : v, unit);
    return buf;
}

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);

    return n >= m && !strcmp(s + n - m, end);
}

/* Watermarks are printed to the digit, counters with commas. */
static const char *cell(const char *view, const char *column, const json_t *row, char *buf)
{
    const json_t *v = json_object_get(row, column);
    char digits[24];

    if (json_is_null(v) || !v)
        return "N/A";
    if (json_is_real(v) && ends_with(column, "_BPS"))
        return byte_rate(json_real_value(v), buf, CELL_MAX);
    if (json_is_real(v)) {
        snprintf(buf, CELL_MAX, "%.2f%%", json_real_value(v));
        return buf;
    }
    if (json_is_string(v)) {
        snprintf(buf, CELL_MAX, "%s", json_string_value(v));
        return buf;
    }
    snprintf(digits, sizeof(digits), "%" JSON_INTEGER_FORMAT, json_integer_value(v));
    if (strstr(view, "watermark") || strstr(view, "drop counters"))
        snprintf(buf, CELL_MAX, "%s", digits);
    else
        thousands(digits, buf, CELL_MAX);
    return buf;
}

static void print_one(const char *view, const json_t *t, FILE *out)
{
    const json_t *columns = json_object_get(t, "columns"), *rows = json_object_get(t, "rows");
    const char *title = json_string_value(json_object_get(t, "title"));
    int width[COLUMNS_MAX];
    char buf[CELL_MAX];
    const json_t *c, *r;
    size_t i, k;

    if (title && title[0])
        fprintf(out, "%s\n", title);
    json_array_foreach (columns, i, c) {
        width[i] = (int)strlen(json_string_value(c)) + 2;
        json_array_foreach (rows, k, r) {
            int n = (int)strlen(cell(view, json_string_value(c), r, buf));

            width[i] = n > width[i] ? n : width[i];
        }
    }
    json_array_foreach (columns, i, c)
        fprintf(out, "%s%*s", i ? "  " : "", width[i], json_string_value(c));
    fputc('\n', out);
    json_array_foreach (columns, i, c)
        fprintf(out, "%s%.*s", i ? "  " : "", width[i],
                "----------------------------------------------------------------------------"
                "------------------------------------------------------------------------");
    fputc('\n', out);
    json_array_foreach (rows, k, r) {
        json_array_foreach (columns, i, c)
            fprintf(out, "%s%*s", i ? "  " : "", width[i],
                    cell(view, json_string_value(c), r, buf));
        fputc('\n', out);
    }
}

void wf_sonic_print(const char *view, const json_t *tables, FILE *out)
{
    const json_t *t;
    size_t i;

    json_array_foreach (tables, i, t) {
        if (i)
            fputc('\n', out);
        print_one(view, t, out);
    }
}
