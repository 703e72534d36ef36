/* SPDX-License-Identifier: BSD-3-Clause */
#include "attach/far_end.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_MAX = 16384, NO_NETNS = -1 };

struct facts {
    uint32_t mtu;
    int link, netns; /* of a veth: the other end's index, and where it is as we name it */
    bool veth, bridged;
};

struct question {
    struct nlmsghdr h;
    struct ifinfomsg i;
    struct rtattr netns;
    int32_t netns_id;
};

static void read_info(const struct rtattr *info, struct facts *f)
{
    const struct rtattr *a = RTA_DATA(info);

    for (int left = (int)RTA_PAYLOAD(info); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
        if (a->rta_type == IFLA_INFO_KIND)
            f->veth = RTA_PAYLOAD(a) >= 5 && !memcmp(RTA_DATA(a), "veth", 5);
        if (a->rta_type == IFLA_INFO_SLAVE_KIND)
            f->bridged = RTA_PAYLOAD(a) >= 7 && !memcmp(RTA_DATA(a), "bridge", 7);
    }
}

static int number(const struct rtattr *a)
{
    int v = 0;

    if (RTA_PAYLOAD(a) >= sizeof(v))
        memcpy(&v, RTA_DATA(a), sizeof(v));
    return v;
}

static void read_link(const struct nlmsghdr *h, struct facts *f)
{
    const struct rtattr *a = IFLA_RTA(NLMSG_DATA(h));

    *f = (struct facts){.netns = NO_NETNS};
    for (int left = (int)IFLA_PAYLOAD(h); RTA_OK(a, left); a = RTA_NEXT(a, left))
        switch (a->rta_type) {
        case IFLA_MTU:
            f->mtu = (uint32_t)number(a);
            break;
        case IFLA_LINK:
            f->link = number(a);
            break;
        case IFLA_LINK_NETNSID:
            f->netns = number(a);
            break;
        case IFLA_LINKINFO:
            read_info(a, f);
            break;
        }
}

static bool ask(int fd, int ifindex, int netns, struct facts *f)
{
    struct question q = {
        .h = {.nlmsg_type = RTM_GETLINK, .nlmsg_flags = NLM_F_REQUEST},
        .i = {.ifi_family = AF_UNSPEC, .ifi_index = ifindex},
        .netns = {.rta_len = RTA_LENGTH(sizeof(int32_t)), .rta_type = IFLA_TARGET_NETNSID},
        .netns_id = netns,
    };
    union {
        struct nlmsghdr h;
        char bytes[ANSWER_MAX];
    } answer;
    ssize_t n;

    q.h.nlmsg_len = netns == NO_NETNS ? offsetof(struct question, netns) : sizeof(q);
    if (send(fd, &q, q.h.nlmsg_len, 0) < 0)
        return false;
    n = recv(fd, &answer, sizeof(answer), 0);
    if (n < 0 || !NLMSG_OK(&answer.h, (size_t)n) || answer.h.nlmsg_type != RTM_NEWLINK)
        return false;
    read_link(&answer.h, f);
    return true;
}

void wf_far_end_ask(int ifindex, struct wf_far_end *out)
{
    struct timeval wait = {.tv_sec = 1};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    struct facts near, far;

    *out = (struct wf_far_end){0};
    if (fd < 0)
        return;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
    if (ask(fd, ifindex, NO_NETNS, &near)) {
        out->bridged = near.bridged;
        if (near.veth && near.link && ask(fd, near.link, near.netns, &far)) {
            out->mtu = far.mtu;
            out->bridged |= far.bridged;
        }
    }
    close(fd);
}
