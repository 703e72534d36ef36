/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of base/plain: what of a stranger's text may reach a terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/plain.h"

static void assert_plain(const char *text, const char *want)
{
    char buf[128];

    strcpy(buf, text);
    assert_string_equal(wf_plain(buf), want);
}

static void one_field(void **state)
{
    (void)state;
    assert_plain("", "");
    assert_plain("leaf0:p3 ~", "leaf0:p3 ~");
    assert_plain("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
                 "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
    assert_plain("\x1b[31mred\x1b]0;title\a", "?[31mred?]0;title?");
    assert_plain("a\nb\tc\rd\x7f", "a?b?c?d?");
    assert_plain("\xc2\x9b"
                 "2J",
                 "?2J"); /* CSI of C1, as UTF-8 */
    assert_plain("\x9b"
                 "2J",
                 "?2J");                              /* and as a byte */
    assert_plain("\xc2\xa0", "\xc2\xa0");             /* just behind C1 */
    assert_plain("\xe2\x80\xaetxt", "?txt");          /* right to left override */
    assert_plain("\xe2\x81\xa6x\xe2\x81\xa9", "?x?"); /* isolates */
}

/* RFC 3629: shortest forms only, no surrogates, nothing above U+10FFFF, nothing cut. */
static void no_utf8(void **state)
{
    (void)state;
    assert_plain("\xc0\x9b", "??");
    assert_plain("\xe0\x80\x9b", "???");
    assert_plain("\xe0\x9f\xbf", "???");
    assert_plain("\xed\xa0\x80", "???");
    assert_plain("\xf0\x8f\xbf\xbf", "????");
    assert_plain("\xf4\x90\x80\x80", "????");
    assert_plain("\xff\xfe", "??");
    assert_plain("x\xe2\x82", "x?");
    assert_plain("\xe2\x82"
                 "A",
                 "?A");
}

/* However a text is cut into pieces, what comes out is the same. */
static void lines_in_pieces(void **state)
{
    static const char text[] = "a\n\tb\x1b[1m\xe2\x82\xac\xf0\x9f\x98\x80\xc2\x9b\xe2\x82";
    static const char want[] = "a\n\tb?[1m\xe2\x82\xac\xf0\x9f\x98\x80??";
    const size_t len = sizeof(text) - 1;

    (void)state;
    for (size_t cut = 0; cut <= len; cut++) {
        char buf[64], held[64];
        size_t used, n = wf_plain_lines(text, cut, false, buf, &used);

        assert_true(cut - used < 4);
        memcpy(held, text + used, len - used);
        n += wf_plain_lines(held, len - used, true, buf + n, &used);
        buf[n] = '\0';
        assert_string_equal(buf, want);
    }
}

static void errors_are_plain(void **state)
{
    struct wf_err err;
    char buf[1200];

    (void)state;
    wf_err_at(&err, 22, "a\x1b[2Jb.yaml", 3, 4, "'%s' is no name", "x\ny\x1b");
    assert_string_equal(wf_err_text(&err, buf, sizeof(buf)), "a?[2Jb.yaml:3:4: 'x?y?' is no name");
    wf_err_set(&err, 22, "it");
    wf_err_place(&err, "\x07", 1, 2);
    assert_string_equal(wf_err_text(&err, buf, sizeof(buf)), "?:1:2: it");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_field),
        cmocka_unit_test(no_utf8),
        cmocka_unit_test(lines_in_pieces),
        cmocka_unit_test(errors_are_plain),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
