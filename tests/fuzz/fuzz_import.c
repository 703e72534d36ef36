/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any JSON as a SONiC switch's configuration: notes, or a scenario that weft reads: what is wrong
 * with it may be what the switch is told, such as too little headroom, and no key or value that
 * scenarios don't have.
 */
#include <string.h>

#include "scen/import.h"
#include "scen/scenario.h"

#include "fuzz.h"

static void check_scenario(const char *yaml, size_t len)
{
    struct wf_scenario s;

    wf_scenario_parse(&s, "f.yaml", yaml, len);
    FUZZ_CHECK(s.root);
    for (size_t i = 0; i < s.diags.n; i++) {
        const char *msg = s.diags.items[i]->err.msg;

        FUZZ_CHECK(!strstr(msg, "unknown key") && !strstr(msg, "out of range") &&
                   !strstr(msg, "matches no"));
    }
    wf_scenario_free(&s);
}

/* One line each, whatever the file calls its tables. */
static void check_notes(const struct wf_import *im)
{
    char *text = NULL;
    size_t len, lines = 0;
    FILE *f = open_memstream(&text, &len);

    wf_import_print_notes(im, "", f);
    fclose(f);
    for (size_t i = 0; i < len; i++) {
        lines += text[i] == '\n';
        FUZZ_CHECK(text[i] == '\n' || (text[i] >= ' ' && text[i] < 0x7f));
    }
    FUZZ_CHECK(lines >= im->n_notes);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wf_import im = {.seen = NULL};
    json_t *root = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);

    if (json_is_object(root)) {
        wf_import_json(&im, "c.json", root);
        FUZZ_CHECK((im.errors == 0) == (im.yaml != NULL));
        check_notes(&im);
        if (im.yaml)
            check_scenario(im.yaml, im.yaml_len);
        wf_import_free(&im);
    }
    json_decref(root);
    return 0;
}
