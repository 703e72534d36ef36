/* SPDX-License-Identifier: BSD-3-Clause */
/* Of the reference: the published sets of the laws' values, and the NIC profiles. */
#include <inttypes.h>

#include "base/units.h"
#include "cc/laws.h"
#include "host/profile.h"
#include "scen/scen_priv.h"

static void print_sets(FILE *out, const struct wf_cc_law *l)
{
    for (size_t i = 0; i < l->n_params; i++) {
        const struct wf_cc_params *p = &l->params[i];

        fprintf(out, "\n`params: %s`: %s\n", p->name, p->doc);
        if (p->n_values)
            fputs("\n| key | value | where it comes from |\n|---|---|---|\n", out);
        for (size_t v = 0; v < p->n_values; v++)
            fprintf(out, "| `%s` | `%s` | %s |\n", p->values[v].key, p->values[v].value,
                    p->values[v].source);
    }
}

void wf_scen_reference_sets(FILE *out, const struct wf_cc_law *law)
{
    if (law->n_params)
        print_sets(out, law);
}

static void row(FILE *out, const char *what, const char *value, const char *source)
{
    fprintf(out, "| %s | `%s` | %s |\n", what, value, source);
}

void wf_scen_reference_nics(FILE *out)
{
    char buf[32];

    fputs("\n## NIC profiles\n\n"
          "What `nic.profile` stands for where the keys of `nic`, the host's `pfc.response` and a "
          "flow's\n`retransmit` say auto. \"assumed\": no source was read for it.\n",
          out);
    for (size_t i = 0; i < WF_NIC_PROFILES; i++) {
        const struct wf_nic_profile *p = &wf_nic_profiles[i];

        fprintf(out, "\n### %s\n\n%s\n\n| what | value | where it comes from |\n|---|---|---|\n",
                p->name, p->doc);
        row(out, "one CNP in an interval for each", wf_cnp_pacing_names[p->pacing],
            p->pacing_source);
        row(out, "the interval", wf_time_text(p->interval_ps, buf, sizeof(buf)),
            p->interval_source);
        row(out, "delay of a CNP", wf_time_text(p->delay_ps, buf, sizeof(buf)), p->delay_source);
        row(out, "a CNP with a NAK", p->on_nak ? "on" : "off", p->on_nak_source);
        row(out, "response to PFC", wf_scen_auto_time(p->response_ps, buf), p->response_source);
        row(out, "retransmission", wf_retransmit_names[p->retransmit], p->retransmit_source);
    }
}
