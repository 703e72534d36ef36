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
          "What `nic.profile` stands for where the keys of `nic` say auto. \"assumed\": no source "
          "was read\nfor it.\n",
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
        row(out, "response to PFC", p->response, p->response_source);
        row(out, "retransmission", p->retransmit, p->retransmit_source);
    }
}

/* "NICs: 3 generic, 2 connectx6"; nothing while nobody asks for more than plain ones. */
void wf_scen_nics_text(const struct wf_scenario *s, FILE *out)
{
    uint32_t n[WF_NIC_PROFILES] = {0};
    const char *between = "NICs: ";

    for (uint32_t i = 0; i < s->desc.n_hosts; i++)
        n[s->desc.hosts[i].cfg.nic.profile] += s->desc.hosts[i].cfg.attach.type == WF_ATTACH_NONE;
    for (size_t i = 0; i < WF_NIC_PROFILES; i++) {
        if (n[i])
            fprintf(out, "%s%" PRIu32 " %s", between, n[i], wf_nic_profiles[i].name);
        between = n[i] ? ", " : between;
    }
    fputc('\n', out);
}
