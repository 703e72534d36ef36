/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the files of the connection manager. */
#ifndef WEFT_XPORT_CM_PRIV_H
#define WEFT_XPORT_CM_PRIV_H

#include "xport/cm.h"

/* A place for a connection with an ID of its own, or NULL. */
struct wf_conn *wf_conn_new(struct wf_cm_agent *a, const struct wf_cm_peer *peer);
/* Send m and keep it; expect the answer within wait_ps (0: none is expected). */
void wf_conn_send(struct wf_cm_agent *a, struct wf_conn *c, const struct wf_cm_msg *m,
                  uint64_t wait_ps, uint64_t now_ps);
void wf_conn_timewait(struct wf_cm_agent *a, struct wf_conn *c, uint64_t now_ps);
void wf_conn_tell(struct wf_cm_agent *a, struct wf_conn *c, enum wf_conn_event ev,
                  const struct wf_cm_msg *m, uint64_t now_ps);
/* A message of no connection. */
void wf_cm_stray(struct wf_cm_agent *a, const struct wf_cm_peer *to, const struct wf_cm_msg *m);
void wf_cm_stray_rej(struct wf_cm_agent *a, const struct wf_cm_peer *to, uint64_t tid,
                     const struct wf_cm_rej *rej, const void *private_data, uint32_t len);
/* A message of a connection, with its IDs. */
void wf_conn_msg(const struct wf_conn *c, uint16_t attr_id, struct wf_cm_msg *m);

#endif
