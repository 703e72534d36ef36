/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables and their statistics: what CSV means by RFC 4180, broken tables, writing and reading back;
 * Student's t against an integration of its density.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

#include "base/prng.h"
#include "scen/csv.h"
#include "scen/stats.h"

static int read_text(struct wf_csv *c, const char *text, size_t len, struct wf_err *err)
{
    char path[] = "/tmp/weft-csv-XXXXXX";
    int fd = mkstemp(path), rc;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, len), (ssize_t)len);
    close(fd);
    rc = wf_csv_read(c, path, err);
    unlink(path);
    return rc;
}

static void test_cells(void **state)
{
    static const char text[] = "# one\n# two\nname,\"a \"\"quoted\"\", one\",c\r\n"
                               "1,\"two\nlines\",\n,\"\",#3\n\"\",x,y";
    static const char *const want[] = {
        "name", "a \"quoted\", one", "c", "1", "two\nlines", "", "", "", "#3", "", "x", "y"};
    struct wf_csv c;
    struct wf_err err;

    assert_int_equal(read_text(&c, text, sizeof(text) - 1, &err), 0);
    assert_int_equal(c.n_cols, 3);
    assert_int_equal(c.n_rows, 3);
    assert_string_equal(c.comment, "one");
    for (size_t i = 0; i < 12; i++)
        assert_string_equal(c.cells[i], want[i]);
    assert_string_equal(wf_csv_cell(&c, 2, 2), "y");
    assert_int_equal(wf_csv_col(&c, "c"), 2);
    assert_int_equal(wf_csv_col(&c, "d"), -1);
    wf_csv_free(&c);
}

static void test_broken(void **state)
{
    static const struct {
        const char *text, *part;
        int line;
    } rows[] = {
        {"", "no table in it", 0},
        {"# only\n", "no table in it", 1},
        {"a,b\n1\n", "1 cells, expected 2", 2},
        {"a,b\n1,2,3\n", "3 cells, expected 2", 2},
        {"a,b\n\n", "1 cells, expected 2", 2},
        {"a,b\n1,\"2\n", "a quote that is never closed", 3},
        {"a,b\n1,\"2\"x\n", "text behind a closing quote", 2},
        {"a,b\n1,2\"\n", "a quote within a cell", 2},
        {"a,b\n1,2\rx\n", "a carriage return within a row", 2},
    };
    struct wf_csv c;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct wf_err err = {.line = 0};

        assert_int_equal(read_text(&c, rows[i].text, strlen(rows[i].text), &err), -EINVAL);
        assert_non_null(strstr(err.msg, rows[i].part));
        assert_int_equal(err.line, rows[i].line);
        wf_csv_free(&c);
    }
    assert_int_equal(read_text(&c, "a\n\0\n", 4, NULL), -EINVAL);
    wf_csv_free(&c);
    assert_int_equal(wf_csv_read(&c, "/nowhere/at/all", NULL), -ENOENT);
    wf_csv_free(&c);
}

/* What is written is read back, whatever is in the cells. */
static void test_there_and_back(void **state)
{
    static const char alphabet[] = "ab,\"\n\r #;.0";
    char cells[60][12], *text;
    struct wf_prng p;
    struct wf_csv c;
    size_t len;

    wf_prng_init(&p, 1, "csv");
    for (int round = 0; round < 200; round++) {
        FILE *f = open_memstream(&text, &len);

        for (size_t i = 0; i < 60; i++) {
            size_t n = wf_prng_below(&p, 11), k = 0;

            for (; k < n; k++)
                cells[i][k] = alphabet[wf_prng_below(&p, sizeof(alphabet) - 1)];
            cells[i][k] = 0;
            wf_csv_put(f, cells[i]);
            fputc(i % 5 == 4 ? '\n' : ',', f);
        }
        fclose(f);
        assert_int_equal(read_text(&c, text, len, NULL), 0);
        assert_int_equal(c.n_cols, 5);
        assert_int_equal(c.n_rows, 11);
        for (size_t i = 0; i < 60; i++)
            assert_string_equal(c.cells[i], cells[i]);
        wf_csv_free(&c);
        free(text);
    }
}

/* Random bytes end in a table or in an error, never in anything else. */
static void test_noise(void **state)
{
    static const char alphabet[] = "a,\"\n\r#";
    struct wf_prng p;
    struct wf_csv c;
    char text[64];

    wf_prng_init(&p, 2, "noise");
    for (int round = 0; round < 3000; round++) {
        size_t n = wf_prng_below(&p, sizeof(text));
        int rc;

        for (size_t i = 0; i < n; i++)
            text[i] = alphabet[wf_prng_below(&p, sizeof(alphabet) - 1)];
        rc = read_text(&c, text, n, NULL);
        assert_true(rc == 0 || rc == -EINVAL);
        assert_true(rc || c.n_cols > 0);
        wf_csv_free(&c);
    }
}

/* P(T < t) by Simpson's rule; with x = sqrt(df) tan(u) the density becomes a power of cos(u). */
static double cdf(double t, double df)
{
    enum { STEPS = 4000 };
    double end = atan(t / sqrt(df)), h = end / STEPS, sum = 1 + pow(cos(end), df - 1);

    for (int i = 1; i < STEPS; i++)
        sum += (i % 2 ? 4 : 2) * pow(cos(i * h), df - 1);
    return 0.5 + exp(lgamma((df + 1) / 2) - lgamma(df / 2)) / sqrt(M_PI) * sum * h / 3;
}

static void test_students_t(void **state)
{
    for (size_t df = 1; df <= 400; df++) {
        double p = cdf(wf_stats_t975(df), (double)df);

        /* exact where the table has a row; else a little more, never less */
        assert_true(p > 0.975 - 1e-5);
        assert_true(p < 0.975 + (df <= 30 ? 1e-5 : 1e-3));
    }
}

static void test_stats(void **state)
{
    double v[] = {4, 1, 3, 2}, one[] = {7};
    struct wf_stats s;

    wf_stats(v, 4, &s);
    assert_true(s.n == 4 && s.mean == 2.5 && s.median == 2.5 && s.min == 1 && s.max == 4);
    assert_true(fabs(s.sd - sqrt(5.0 / 3)) < 1e-12);
    assert_true(fabs(s.ci95 - 3.1824 * sqrt(5.0 / 3) / 2) < 1e-12);
    assert_true(wf_stats_rank(v, 4, 0) == 1 && wf_stats_rank(v, 4, 25) == 1);
    assert_true(wf_stats_rank(v, 4, 26) == 2 && wf_stats_rank(v, 4, 50) == 2);
    assert_true(wf_stats_rank(v, 4, 99) == 4 && wf_stats_rank(v, 4, 100) == 4);
    wf_stats(one, 1, &s);
    assert_true(s.mean == 7 && s.median == 7 && isnan(s.sd) && isnan(s.ci95));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells),          cmocka_unit_test(test_broken),
        cmocka_unit_test(test_there_and_back), cmocka_unit_test(test_noise),
        cmocka_unit_test(test_students_t),     cmocka_unit_test(test_stats),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
