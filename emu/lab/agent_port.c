/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent's end of the virtio-serial port: whole frames in and out. */
#include "lab/agent.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void put(int port, const void *data, size_t len)
{
    const uint8_t *p = data;

    while (len) {
        ssize_t n = write(port, p, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            wf_agent_log("port write: %s", strerror(errno));
            wf_agent_power_off();
        }
        p += n;
        len -= n;
    }
}

void wf_agent_send(int port, uint32_t session, uint16_t type, const void *data, uint32_t len)
{
    struct wf_agent_hdr h = {WF_AGENT_MAGIC, session, type, 0, len};

    put(port, &h, sizeof(h));
    if (len)
        put(port, data, len);
}

void wf_agent_recv(int port, void *data, uint32_t len)
{
    uint8_t *p = data;

    while (len) {
        ssize_t n = read(port, p, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) { /* the host has closed the port: nobody is left to work for */
            wf_agent_log("port closed");
            wf_agent_power_off();
        }
        p += n;
        len -= n;
    }
}
