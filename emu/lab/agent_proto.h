/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The frames between weft and the agent that is a guest's first process, over one virtio-serial
 * port. Both ends are the same machine type, so integers travel in host order. The stream is
 * reliable; a wrong magic means a broken peer and ends the connection.
 *
 * A session is one command. Its output is sent only within a window that the host opens again with
 * WINDOW frames: a reader that stops holds up its own command and no other.
 * Left out: terminals (a command has pipes, never a tty).
 */
#ifndef WEFT_LAB_AGENT_PROTO_H
#define WEFT_LAB_AGENT_PROTO_H

#include <stdint.h>

#define WF_AGENT_PORT     "weft.agent" /* name of the virtio-serial port */
#define WF_AGENT_MAGIC    0x31414657u  /* "WFA1" */
#define WF_AGENT_MAX_LEN  (64u * 1024)
#define WF_AGENT_WINDOW   (256u * 1024) /* bytes of output a session may have unacknowledged */
#define WF_AGENT_SESSIONS 64

struct wf_agent_hdr {
    uint32_t magic;
    uint32_t session; /* chosen by the host, never 0; 0: about the guest itself */
    uint16_t type;    /* enum wf_agent_type */
    uint16_t reserved;
    uint32_t len; /* of the payload that follows */
};

enum wf_agent_type {
    /* host to guest */
    WF_AGENT_RUN = 1,     /* struct wf_agent_run, then cwd, argv..., env..., each ended by NUL */
    WF_AGENT_STDIN,       /* bytes; none: end of input */
    WF_AGENT_KILL,        /* uint32_t signal, to the command's process group */
    WF_AGENT_WINDOW_OPEN, /* uint32_t bytes of output consumed */
    /* guest to host */
    WF_AGENT_HELLO = 32, /* text: kernel release, agent version */
    WF_AGENT_STDOUT,     /* bytes */
    WF_AGENT_STDERR,     /* bytes */
    WF_AGENT_IDLE,       /* the command has settled: it waits and uses no CPU (once a session) */
    WF_AGENT_EXIT,       /* struct wf_agent_exit, then a text that may be empty; the last frame */
};

struct wf_agent_run {
    uint32_t timeout_ms; /* 0: none */
    uint16_t argc, envc;
    uint8_t want_stdin; /* 0: /dev/null */
    uint8_t want_idle;
    uint8_t reserved[2];
    char netdev[16]; /* bind its sockets to this interface; "": don't */
};

enum wf_agent_end {
    WF_AGENT_END_EXITED,   /* code: exit status */
    WF_AGENT_END_SIGNALED, /* code: signal */
    WF_AGENT_END_TIMEOUT,  /* killed, since timeout_ms had passed */
    WF_AGENT_END_FAILED,   /* never started; code: errno */
};

struct wf_agent_exit {
    uint32_t end; /* enum wf_agent_end */
    int32_t code;
};

#endif
