/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text put together in a buffer of fixed size, and addresses as ip(8) wants them.
 */
#ifndef WEFT_LAB_TEXT_H
#define WEFT_LAB_TEXT_H

#include <arpa/inet.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/key.h"

struct wf_text {
    char *buf;
    size_t len, used;
    bool overflow; /* something did not fit */
};

void wf_text_add(struct wf_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

struct wf_ip_text {
    char addr[INET6_ADDRSTRLEN], net[INET6_ADDRSTRLEN];
    unsigned len;
};

/* False when there is no address. */
bool wf_ip_text(const struct wf_ip_prefix *p, struct wf_ip_text *t);

#endif
