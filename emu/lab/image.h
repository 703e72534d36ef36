/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The image that guests boot from: scripts/guest-image builds it from Debian packages, or finds it
 * in its cache; this calls that script.
 */
#ifndef WEFT_LAB_IMAGE_H
#define WEFT_LAB_IMAGE_H

#include <stdbool.h>

#include "base/err.h"

struct wf_image_req {
    const char *kernel;   /* package or .deb file; NULL: the distribution's */
    const char *packages; /* "a,b,c"; NULL: none */
    bool only_if_built;   /* do not build: -ENOENT when it is not in the cache */
};

struct wf_image {
    char dir[512], vmlinux[540], initramfs[540];
};

/* Progress and errors of the script go to stderr. 0 or -errno: what the script said is enough of a
 * message, *err repeats only that it failed. */
int wf_image_get(struct wf_image *image, const struct wf_image_req *req, struct wf_err *err);

#endif
