/* SPDX-License-Identifier: BSD-3-Clause */
/* See msg.h. Base64: RFC 4648, clause 4. */
#include "ctl/msg.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

void wf_msg_buf_free(struct wf_msg_buf *b)
{
    free(b->data);
    memset(b, 0, sizeof(*b));
}

void wf_msg_buf_drop(struct wf_msg_buf *b, size_t len)
{
    b->len -= len;
    memmove(b->data, b->data + len, b->len);
}

static uint8_t *room(struct wf_msg_buf *b, size_t more)
{
    if (b->len + more > b->cap) {
        size_t cap = (b->len + more) * 2;
        uint8_t *d = realloc(b->data, cap);

        if (!d)
            return NULL;
        b->data = d;
        b->cap = cap;
    }
    return b->data + b->len;
}

int wf_msg_put(struct wf_msg_buf *b, json_t *msg)
{
    size_t len = json_dumpb(msg, NULL, 0, JSON_COMPACT);
    uint32_t head = htonl((uint32_t)len);
    uint8_t *p;
    int rc = 0;

    if (!len || len > WF_MSG_MAX)
        rc = -EMSGSIZE;
    else if (!(p = room(b, sizeof(head) + len)))
        rc = -ENOMEM;
    else {
        memcpy(p, &head, sizeof(head));
        json_dumpb(msg, (char *)p + sizeof(head), len, JSON_COMPACT);
        b->len += sizeof(head) + len;
    }
    json_decref(msg);
    return rc;
}

json_t *wf_msg_get(struct wf_msg_buf *b, int *rc)
{
    uint32_t len;
    json_t *msg;

    *rc = 0;
    if (b->len < sizeof(len))
        return NULL;
    memcpy(&len, b->data, sizeof(len));
    len = ntohl(len);
    if (len > WF_MSG_MAX) {
        *rc = -EPROTO;
        return NULL;
    }
    if (b->len < sizeof(len) + len)
        return NULL;
    msg = json_loadb((char *)b->data + sizeof(len), len, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES,
                     NULL);
    wf_msg_buf_drop(b, sizeof(len) + len);
    if (!json_is_object(msg)) {
        json_decref(msg);
        *rc = -EPROTO;
        return NULL;
    }
    return msg;
}

long wf_msg_read(struct wf_msg_buf *b, int fd)
{
    uint8_t *p = room(b, 64 * 1024);
    ssize_t n;

    if (!p)
        return -ENOMEM;
    do
        n = recv(fd, p, 64 * 1024, MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return -errno;
    b->len += n;
    return n;
}

int wf_msg_write(struct wf_msg_buf *b, int fd)
{
    while (b->len) {
        ssize_t n = send(fd, b->data, b->len, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN ? 0 : -errno;
        wf_msg_buf_drop(b, n);
    }
    return 0;
}

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static json_t *base64(const uint8_t *in, size_t len)
{
    char *out = malloc(len / 3 * 4 + 5), *o = out;
    json_t *s;

    if (!out)
        return NULL;
    for (size_t i = 0; i < len; i += 3) {
        uint32_t v = (uint32_t)in[i] << 16;

        if (i + 1 < len)
            v |= (uint32_t)in[i + 1] << 8;
        if (i + 2 < len)
            v |= in[i + 2];
        *o++ = digits[v >> 18];
        *o++ = digits[v >> 12 & 63];
        *o++ = i + 1 < len ? digits[v >> 6 & 63] : '=';
        *o++ = i + 2 < len ? digits[v & 63] : '=';
    }
    s = json_stringn_nocheck(out, o - out);
    free(out);
    return s;
}

static uint8_t *unbase64(const char *in, size_t len, size_t *out_len)
{
    uint8_t *out = malloc(len / 4 * 3 + 1), *o = out;
    uint32_t v = 0;
    int have = 0;

    if (len % 4) {
        free(out);
        return NULL;
    }
    for (size_t i = 0; out && i < len && in[i] != '='; i++) {
        const char *d = in[i] ? strchr(digits, in[i]) : NULL;

        if (!d) {
            free(out);
            return NULL;
        }
        v = v << 6 | (uint32_t)(d - digits);
        have += 6;
        if (have >= 8) {
            have -= 8;
            *o++ = (uint8_t)(v >> have);
        }
    }
    *out_len = o - out;
    return out;
}

int wf_msg_set_bytes(json_t *obj, const void *data, size_t len)
{
    json_t *s = json_stringn(data, len); /* NULL unless it is UTF-8 */

    if (s)
        return json_object_set_new(obj, "text", s);
    return json_object_set_new(obj, "base64", base64(data, len));
}

uint8_t *wf_msg_get_bytes(const json_t *obj, size_t *len)
{
    const json_t *s = json_object_get(obj, "text");
    uint8_t *copy;

    if (!json_is_string(s)) {
        s = json_object_get(obj, "base64");
        return json_is_string(s) ? unbase64(json_string_value(s), json_string_length(s), len)
                                 : NULL;
    }
    *len = json_string_length(s);
    copy = malloc(*len + 1);
    if (copy)
        memcpy(copy, json_string_value(s), *len + 1);
    return copy;
}
