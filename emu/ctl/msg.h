/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages on the control socket: a 32-bit length in network order, then one JSON object of that
 * many bytes. Bytes of any kind travel as "text" where they are UTF-8, as "base64" else.
 */
#ifndef WEFT_LAB_MSG_H
#define WEFT_LAB_MSG_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define WF_MSG_VERSION 1
#define WF_MSG_MAX     (1024u * 1024)

/* A growing buffer of bytes, consumed from the front. Zero-initialised is empty. */
struct wf_msg_buf {
    uint8_t *data;
    size_t len, cap;
};

void wf_msg_buf_free(struct wf_msg_buf *b);
void wf_msg_buf_drop(struct wf_msg_buf *b, size_t len);
/* Append one message; takes the reference to msg. -ENOMEM, or -EMSGSIZE beyond WF_MSG_MAX. */
int wf_msg_put(struct wf_msg_buf *b, json_t *msg);
/* The first message of the buffer, or NULL: *rc is 0 when it is not complete yet, -EPROTO when it
 * is none (the connection is of no use any more). */
json_t *wf_msg_get(struct wf_msg_buf *b, int *rc);
/* Read what there is, without waiting. Bytes read, 0: end, -EAGAIN: nothing, else -errno. */
long wf_msg_read(struct wf_msg_buf *b, int fd);
/* Write what fits, without waiting. 0 or -errno; what is left stays in the buffer. */
int wf_msg_write(struct wf_msg_buf *b, int fd);

/* Set data in an object, and get it again (malloc'ed; NULL: there is none, or it is broken). */
int wf_msg_set_bytes(json_t *obj, const void *data, size_t len);
uint8_t *wf_msg_get_bytes(const json_t *obj, size_t *len);

#endif
