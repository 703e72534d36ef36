/* SPDX-License-Identifier: BSD-3-Clause */
/* See config.h. */
#include "lab/config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define AT(field) offsetof(struct wf_lab_cfg, field)

static const char *const accel_names[] = {"auto", "kvm", "tcg", NULL};

static const struct wf_key rows[] = {
    {"kernel", WF_KEY_STRING, AT(kernel), "",
     .doc = "Kernel of the guests: a Debian package or a .deb file. Default: the distribution's."},
    {"packages", WF_KEY_STRING, AT(packages), "",
     .doc = "Debian packages that the guests carry besides the usual tools: \"a, b, c\"."},
    {"share", WF_KEY_STRING, AT(share), "",
     .doc = "Folder of this machine that guests see at the same path, or \"none\". Default: the "
            "working directory of `weft lab up`."},
    {"memory", WF_KEY_BYTES, AT(memory_bytes), "0B", .max = 1ull << 40,
     .doc = "Memory of each guest; 0: what the image and its hosts need."},
    {"boot_limit", WF_KEY_TIME, AT(boot_limit_ps), "0s",
     .doc = "Guests that are not up by then have failed; 0: 120s and 15s more for each."},
    {"accel", WF_KEY_ENUM, AT(accel), "auto", .names = accel_names,
     .doc = "How QEMU runs them: by KVM where it is of use, else by TCG."},
};

const struct wf_keyset wf_lab_keys = {
    .name = "lab",
    .doc = "The soft-RoCE guests of `weft lab`.",
    .keys = rows,
    .n_keys = sizeof(rows) / sizeof(rows[0]),
    .size = sizeof(struct wf_lab_cfg),
};

static void take_addresses(struct wf_lab_host *h, const struct wf_host_cfg *c)
{
    memcpy(h->mac, c->mac, sizeof(h->mac));
    h->mtu = c->mtu;
    h->ip4 = c->ip;
    h->ip6 = c->ip6;
    h->gateway4 = c->gateway;
    h->gateway6 = c->gateway6;
}

static int take_host(struct wf_lab_host *h, const struct wf_desc_host *d, const char *dir,
                     struct wf_err *err)
{
    const struct wf_attach_cfg *a = &d->cfg.attach;
    int n = 0;

    snprintf(h->name, sizeof(h->name), "%s", d->name);
    take_addresses(h, &d->cfg);
    if (d->cfg.place.netns) {
        h->kind = WF_LAB_NETNS;
        snprintf(h->netns, sizeof(h->netns), "%s", d->cfg.place.netns);
        if (a->type == WF_ATTACH_AF_PACKET && a->iface)
            snprintf(h->iface, sizeof(h->iface), "%s", a->iface);
        return 0;
    }
    h->kind = WF_LAB_GUEST;
    if (d->cfg.place.guest)
        snprintf(h->guest, sizeof(h->guest), "%s", d->cfg.place.guest);
    n = a->path ? snprintf(h->socket, sizeof(h->socket), "%s", a->path)
                : snprintf(h->socket, sizeof(h->socket), "%s/%s.vhost", dir, d->name);
    if (n >= (int)sizeof(h->socket))
        return wf_err_set(err, ENAMETOOLONG, "host %s: the path of its socket is too long",
                          d->name);
    return 0;
}

int wf_lab_plan_desc(struct wf_lab_plan *plan, const struct wf_desc *d, const char *dir,
                     struct wf_err *err)
{
    memset(plan, 0, sizeof(*plan));
    for (uint32_t i = 0; i < d->n_hosts; i++) {
        const struct wf_host_cfg *c = &d->hosts[i].cfg;
        int rc;

        if (c->attach.type != WF_ATTACH_VHOST_USER && !c->place.netns)
            continue;
        if (plan->n_hosts == WF_LAB_HOSTS)
            return wf_err_set(err, E2BIG, "a lab holds at most %d hosts", WF_LAB_HOSTS);
        rc = take_host(&plan->hosts[plan->n_hosts++], &d->hosts[i], dir, err);
        if (rc)
            return rc;
    }
    return wf_lab_plan_guests(plan, err);
}
