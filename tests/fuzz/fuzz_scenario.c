/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any text as a scenario: it loads or says what is wrong, each time with a place and a message of
 * one printable line; what loads can be explained, bound and drawn again. Profiles are refused,
 * since they are files of this machine.
 */
#include <ctype.h>
#include <string.h>

#include "scen/scenario.h"

#include "fuzz.h"

static bool names_a_profile(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i + 7 <= size; i++)
        if (!memcmp(data + i, "profile", 7))
            return true;
    return false;
}

static void check_diags(const struct wf_scenario *s, int rc)
{
    FUZZ_CHECK((rc != 0) == (s->diags.errors > 0));
    for (size_t i = 0; i < s->diags.n; i++) {
        const struct wf_err *e = &s->diags.items[i]->err;

        FUZZ_CHECK(e->msg[0]);
        FUZZ_CHECK(!strcmp(e->file, "f.yaml"));
        FUZZ_CHECK(e->line >= 0 && e->col >= 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wf_scenario s;
    char *text = NULL;
    size_t len;
    FILE *f;
    int rc;

    if (names_a_profile(data, size))
        return 0;
    rc = wf_scenario_parse(&s, "f.yaml", data, size);
    check_diags(&s, rc);
    if (!rc) {
        f = open_memstream(&text, &len);
        wf_scenario_explain(&s, f);
        fclose(f);
        FUZZ_CHECK(len > 0);
        free(text);
        wf_scenario_seed(&s, 2);
        for (uint32_t i = 0; i < s.desc.n_flows; i++) {
            FUZZ_CHECK(s.desc.flows[i].from != s.desc.flows[i].to);
            FUZZ_CHECK(s.desc.flows[i].to < s.desc.n_hosts);
        }
        wf_scenario_check_mode(&s, false);
    }
    wf_scenario_free(&s);
    return 0;
}
