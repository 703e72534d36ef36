/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of the guest's agent (a static program that links only libc): boot, sessions, the port.
 */
#ifndef WEFT_LAB_AGENT_H
#define WEFT_LAB_AGENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lab/agent_proto.h"
#include "lab/idle.h"

/* agent_boot.c: what process 1 has to do. Returns the port's descriptor. Problems go to the
 * kernel's log, which is the serial console that weft shows when a guest does not come up. */
int wf_agent_boot(void);
void wf_agent_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void wf_agent_power_off(void);

/* agent_port.c: whole frames to the host; blocks until the host has taken them. */
void wf_agent_send(int port, uint32_t session, uint16_t type, const void *data, uint32_t len);
/* Read exactly len bytes; ends the guest when the host has gone. */
void wf_agent_recv(int port, void *data, uint32_t len);

/* agent_bind.c: bind all sockets that this process and its children open to an interface; 0 or an
 * errno. */
int wf_agent_bind(const char *netdev);

/* agent_session.c */
struct wf_agent_session {
    uint32_t id;                   /* 0: free slot */
    pid_t pid;                     /* also the process group */
    int in, out, err;              /* our ends of the pipes, -1: closed */
    uint32_t window;               /* bytes of output that may still be sent */
    uint64_t deadline_ms, kill_ms; /* 0: none */
    uint64_t look_ms;              /* when to look next whether it has settled */
    bool timed_out, exited, want_idle;
    int wait_status;
    struct wf_idle idle;
    uint32_t stdin_len;
    uint8_t *stdin_data; /* not yet taken by the command */
    bool stdin_end;
};

/* Start the command of a RUN frame; a failure is reported to the host as the session's end. */
void wf_agent_session_start(int port, struct wf_agent_session *s, uint32_t id, const uint8_t *data,
                            uint32_t len);
void wf_agent_session_stdin(struct wf_agent_session *s, const uint8_t *data, uint32_t len);
void wf_agent_session_feed(struct wf_agent_session *s); /* its stdin takes bytes again */
void wf_agent_session_output(int port, struct wf_agent_session *s, bool err);
/* Time limit, the second signal, settling. */
void wf_agent_session_tick(int port, struct wf_agent_session *s, uint64_t now_ms);
/* The command has ended: send what is left of its output as the window allows, then its end. */
void wf_agent_session_finish(int port, struct wf_agent_session *s);

#endif
