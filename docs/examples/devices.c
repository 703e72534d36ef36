/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program under test, for docs/howto-ci.md: opens every RDMA device of the host and expects an
 * active port with a RoCE GID. Exit status 0 when there is one.
 *   gcc -o devices devices.c -libverbs
 */
#include <infiniband/verbs.h>
#include <stdio.h>

int main(void)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    int good = 0;

    for (int i = 0; list && list[i]; i++) {
        struct ibv_context *ctx = ibv_open_device(list[i]);
        struct ibv_port_attr port;
        union ibv_gid gid;

        if (!ctx || ibv_query_port(ctx, 1, &port) || ibv_query_gid(ctx, 1, 0, &gid))
            continue;
        printf("%s: %s, active MTU %d\n", ibv_get_device_name(list[i]),
               ibv_port_state_str(port.state), 128 << port.active_mtu);
        good += port.state == IBV_PORT_ACTIVE;
        ibv_close_device(ctx);
    }
    if (list)
        ibv_free_device_list(list);
    if (!good)
        fprintf(stderr, "no active RDMA device\n");
    return good ? 0 : 1;
}
