/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/config.h"

#include "host/profile.h"

#include "base/units.h"
#include "xport/qp.h"

#define ATTACH(field) offsetof(struct wf_attach_cfg, field)
#define PLACE(field)  offsetof(struct wf_place_cfg, field)
#define NIC(field)    offsetof(struct wf_nic_cfg, field)
#define LISTEN(field) offsetof(struct wf_listen_cfg, field)
#define ROW(field)    offsetof(struct wf_host_cfg, field)
#define FLOW(field)   offsetof(struct wf_flow_cfg, field)
#define COUNT(a)      (sizeof(a) / sizeof((a)[0]))

static const char *const attach_names[] = {"none", "vhost_user", "af_packet", "ethdev", NULL};
static const char *const attach_pfc_names[] = {"backpressure", "honour", "ignore", NULL};

static const struct wf_key attach_rows[] = {
    {"type", WF_KEY_ENUM, ATTACH(type), "none", .names = attach_names,
     .doc = "What the host's port is joined to; none: weft's own model of a host."},
    {"path", WF_KEY_STRING, ATTACH(path), "",
     .doc = "vhost_user: the socket that weft makes; default: in the instance's run directory."},
    {"iface", WF_KEY_STRING, ATTACH(iface), "", .doc = "af_packet: the kernel interface."},
    {"devargs", WF_KEY_STRING, ATTACH(devargs), "",
     .doc = "ethdev: DPDK device arguments, such as net_memif0,role=client or a PCI address."},
    {"pfc", WF_KEY_ENUM, ATTACH(pfc), "backpressure", .names = attach_pfc_names,
     .doc = "How a pause reaches the peer: its frames wait untouched, it gets real PFC frames, or "
            "not at all."},
    {"fifo", WF_KEY_UINT, ATTACH(fifo_frames), "1024", 1, 65536,
     .doc = "Frames that wait for a slow peer before the edge counts as stalled."},
};

static const struct wf_keyset attach_keys = {
    .name = "attach",
    .doc = "A host's port to the outside.",
    .keys = attach_rows,
    .n_keys = COUNT(attach_rows),
    .size = sizeof(struct wf_attach_cfg),
};

static const struct wf_key place_rows[] = {
    {"guest", WF_KEY_STRING, PLACE(guest), "",
     .doc = "Guest that holds this host; hosts of one guest name share it. Default: its own."},
    {"netns", WF_KEY_STRING, PLACE(netns), "", .doc = "Network namespace that is this host."},
};

static const struct wf_keyset place_keys = {
    .name = "place",
    .doc = "Where an attached host runs, for weft lab and weft exec.",
    .keys = place_rows,
    .n_keys = COUNT(place_rows),
    .size = sizeof(struct wf_place_cfg),
};

static const char *const profile_names[] = {"generic", "connectx5", "connectx6", "connectx7",
                                            "e810",    "thor2",     NULL};
static const char *const tri_names[] = {"auto", "off", "on", NULL};

static const struct wf_key nic_rows[] = {
    {"profile", WF_KEY_ENUM, NIC(profile), "generic", .names = profile_names,
     .doc = "What it behaves like where the keys below say auto; see the table of NIC profiles."},
    {"cnp", WF_KEY_ENUM, NIC(cnp), "auto", .names = tri_names,
     .doc = "Whether it sends CNPs for data with CE; auto: to senders whose control wants them."},
    {"cnp_pacing", WF_KEY_ENUM, NIC(cnp_pacing), "auto", .names = wf_cnp_pacing_names,
     .doc = "What may have one CNP in an interval: the port, a pair of addresses, the sender's "
            "address, a queue pair."},
    {"cnp_interval", WF_KEY_TIME, NIC(cnp_interval_ps), "auto", 0, WF_PS_PER_S, .may_auto = true,
     .doc = "Least time between two CNPs of one of these (min_time_between_cnps)."},
    {"cnp_delay", WF_KEY_TIME, NIC(cnp_delay_ps), "auto", 0, WF_PS_PER_S, .may_auto = true,
     .doc = "From the last bit of the data to the CNP in the port's queue; at an attachment "
            "too."},
    {"cnp_on_nak", WF_KEY_ENUM, NIC(cnp_on_nak), "auto", .names = tri_names,
     .doc = "Whether a PSN sequence NAK comes with a CNP, within the same pacing."},
    {"cnp_dscp", WF_KEY_UINT, NIC(cnp_dscp), "48", 0, 63,
     .doc = "DSCP of CNPs; their priority follows by dscp_to_priority.",
     .source =
         "captured on a ConnectX-4 Lx; mlxconfig query of a ConnectX-5: CNP_DSCP 48, "
         "CNP_802P_PRIO 6; of a Thor2: DSCP 48 in priority 7 (Juniper Validated Design, DCQCN "
         "Configuration for RDMA Traffic on NICs)"},
    {"cc", WF_KEY_STRING, NIC(cc), "",
     .doc = "Congestion control of the data that it sends, unless flows name one: an entry of "
            "`cc:`, a law's name, the path of a shared object, or none. Without one an attachment "
            "has no NIC: frames pass untouched."},
};

static const struct wf_keyset nic_keys = {
    .name = "nic",
    .doc = "What the host's NIC is like.",
    .keys = nic_rows,
    .n_keys = COUNT(nic_rows),
    .size = sizeof(struct wf_nic_cfg),
};

static const char *const recv_names[] = {"none", "sink", "echo", "rping", NULL};

static const struct wf_key listen_rows[] = {
    {"port", WF_KEY_UINT, LISTEN(port), "0", 0, 65535,
     .doc = "Port of rdma_cm (port space TCP) that the model host listens on; 0: on none."},
    {"connections", WF_KEY_UINT, LISTEN(connections), "4", 1, 256,
     .doc = "Connections at once; one more is refused with reason 1, no queue pair."},
    {"memory", WF_KEY_BYTES, LISTEN(memory_bytes), "1MiB", 64, 64ull << 20,
     .doc = "Memory that each connection opens to its peer; the private data of the REP says where "
            "it is (docs/howto-peers.md)."},
    {"pattern", WF_KEY_UINT, LISTEN(pattern), "1", 0, UINT32_MAX,
     .doc = "Number of the pattern that fills the memory of a new connection; 0: zeros."},
    {"refuse", WF_KEY_UINT, LISTEN(refuse), "0", 0, 65535,
     .doc = "Refuse every request with this reason, such as 28 (consumer reject); 0: none."},
    {"recv", WF_KEY_ENUM, LISTEN(recv), "none", .names = recv_names,
     .doc = "What becomes of SENDs. none: refused as invalid requests. sink: taken, counted and "
            "compared. echo: sent back too. The same of datagrams, which programs find by SIDR. "
            "rping: an rping client is answered, and no datagrams."},
    {"recv_size", WF_KEY_BYTES, LISTEN(recv_bytes), "4KiB", 1, 256ull << 10,
     .doc = "Room of each receive; a longer SEND ends its connection."},
    {"recv_depth", WF_KEY_UINT, LISTEN(recv_depth), "64", 0, 256,
     .doc = "Receives that each connection keeps posted; 0: none ever, RNR NAK is all that SENDs "
            "get."},
};

static const struct wf_keyset listen_keys = {
    .name = "listen",
    .doc = "A model host that real programs connect to with rdma_cm.",
    .keys = listen_rows,
    .n_keys = COUNT(listen_rows),
    .size = sizeof(struct wf_listen_cfg),
};

static const struct wf_key rows[] = {
    {"mtu", WF_KEY_UINT, ROW(mtu), "4200", 68, 9216,
     .doc = "Longest L3 packet that the host takes and sends.",
     .source = "4200 carries path MTU 4096"},
    {"mac", WF_KEY_MAC, ROW(mac), "", .doc = "MAC address; default 02:00:00:00:xx:xx by number."},
    {"ip", WF_KEY_IP, ROW(ip), "",
     .doc = "IPv4 address with prefix; default 10.<leaf>.0.<n>/16, "
            "beyond 256 leaves 10.<leaf / 256>.<leaf % 256>.<n>/24."},
    {"ip6", WF_KEY_IP, ROW(ip6), "", .doc = "IPv6 address; default fd00:<leaf>::<n>/64."},
    {"gateway", WF_KEY_IP, ROW(gateway), "",
     .doc = "IPv4 gateway; default the subnet's last address."},
    {"gateway6", WF_KEY_IP, ROW(gateway6), "", .doc = "IPv6 gateway; default fd00:<leaf>::ffff."},
    {"dscp_to_priority", WF_KEY_MAP, ROW(dscp_to_priority), "d: d / 8", .max = 7, .count = 64,
     .doc = "DSCP to the NIC's priority (mlnx_qos: dscp2prio)."},
    {"flow_control", WF_KEY_ENUM, ROW(pfc.flow_control), "pfc", .names = wf_flow_control_names,
     .doc = "What the NIC obeys: PFC, 802.3x pause frames or nothing; a model host sends neither."},
};

static const struct wf_key_sub subs[] = {
    {"pfc", &wf_pfc_keys, ROW(pfc), 0, "Priority flow control of the NIC."},
    {"attach", &attach_keys, ROW(attach), 0, "A real peer instead of the model."},
    {"place", &place_keys, ROW(place), 0, "Where the real peer runs."},
    {"nic", &nic_keys, ROW(nic), 0,
     "The NIC of a model host; at an attachment one between the real stack and the fabric."},
    {"listen", &listen_keys, ROW(listen), 0, "Who may connect to the model of a host."},
};

const struct wf_keyset wf_host_keys = {
    .name = "host",
    .doc = "A host.",
    .keys = rows,
    .n_keys = COUNT(rows),
    .subs = subs,
    .n_subs = COUNT(subs),
    .size = sizeof(struct wf_host_cfg),
};

void wf_host_cfg_defaults(struct wf_host_cfg *cfg)
{
    *cfg = (struct wf_host_cfg){0};
    wf_keyset_defaults(&wf_host_keys, cfg);
    for (unsigned i = 0; i < 64; i++)
        cfg->dscp_to_priority[i] = (uint8_t)(i / 8);
}

static const char *const ecn_names[] = {"not_ect", "ect", NULL};

static const char *const op_names[] = {"write", "write_imm", "send",      "send_imm", "send_inv",
                                       "read",  "cmp_swap",  "fetch_add", NULL};
static const char *const service_names[] = {"rc", "uc", "ud", NULL};
const char *const wf_retransmit_names[] = {"go_back_n", "go_back_0", "selective", "auto", NULL};
_Static_assert(WF_RETRANSMIT_AUTO == WF_SELECTIVE + 1, "auto is behind those of the transport");
static const char *const no_yes[] = {"no", "yes", NULL};
static const char *const program_names[] = {"weft", "rping", NULL};
static const char *const family_names[] = {"any", "ip4", "ip6", NULL};

static const struct wf_key flow_rows[] = {
    {"size", WF_KEY_BYTES, FLOW(size_bytes), "1MB", 1, 1ull << 31, .doc = "Bytes of a message."},
    {"count", WF_KEY_UINT, FLOW(count), "1", 1, 1000000, .doc = "Messages of a flow."},
    {"path_mtu", WF_KEY_UINT, FLOW(path_mtu), "4096", 256, 4096,
     .doc = "RDMA path MTU: 256, 512, 1024, 2048 or 4096."},
    {"window", WF_KEY_BYTES, FLOW(window_bytes), "128KiB", 256, 1ull << 31,
     .doc = "Most payload bytes in flight.", .source = "a choice: one BDP of 100G and 10us"},
    {"start", WF_KEY_TIME, FLOW(start_ps), "0", .doc = "When the first message is posted."},
    {"dscp", WF_KEY_UINT, FLOW(dscp), "26", 0, 63, .doc = "DSCP of data and ACK packets."},
    {"ecn", WF_KEY_ENUM, FLOW(ecn), "ect", .names = ecn_names,
     .doc = "Whether switches may mark the flow's data."},
    {"rate", WF_KEY_RATE, FLOW(rate_bps), "0",
     .doc = "Pace the data at most so, in bits on the wire; 0: the line's rate."},
    {"ack_timeout", WF_KEY_TIME, FLOW(ack_timeout_ps), "67.108864ms", 4096000, 10 * WF_PS_PER_S,
     .doc = "Local ACK timeout.", .source = "4.096us x 2^14 (IBA 9.7.6.1.3)"},
    {"retries", WF_KEY_UINT, FLOW(retries), "7", 0, 7,
     .doc = "Timeouts and NAKs without progress before the flow fails."},
    {"cc", WF_KEY_STRING, FLOW(cc), "",
     .doc = "Its congestion control: an entry of `cc:`, a law's name, the path of a shared object, "
            "or none; default: the sending NIC's."},
    {"op", WF_KEY_ENUM, FLOW(op), "write", .names = op_names,
     .doc = "What a message is. READs bring their data to the flow's first host; cmp_swap and "
            "fetch_add have 8 bytes whatever `size` says."},
    {"service", WF_KEY_ENUM, FLOW(service), "rc", .names = service_names,
     .doc = "Transport service: rc all operations, uc write and send, ud send of one packet."},
    {"retransmit", WF_KEY_ENUM, FLOW(retransmit), "auto", .names = wf_retransmit_names,
     .doc = "What a loss costs, at both ends: all from the lost packet on; all of the message; or "
            "the packet alone, what comes out of order being placed (weft's own protocol). "
            "auto: as the sending NIC's profile has it, selective where the receiver's is so too.",
     .source = "by NIC profile, generic: go_back_n (IBA 9.7); go_back_0: Guo et al., SIGCOMM 2016, "
               "4.1"},
    {"rnr_retry", WF_KEY_UINT, FLOW(rnr_retry), "7", 0, 7,
     .doc = "RNR NAKs without progress before the flow fails; 7: never."},
    {"min_rnr_timer", WF_KEY_UINT, FLOW(min_rnr_timer), "12", 0, 31,
     .doc = "What the receiver's RNR NAKs ask for: 0 655.36ms, 1 0.01ms, 12 0.64ms, 31 491.52ms.",
     .source = "IBA table 45"},
    {"recv_depth", WF_KEY_UINT, FLOW(recv_depth), "128", 0, 16384,
     .doc = "Receives that the receiver keeps posted; 0: none ever."},
    {"recv_time", WF_KEY_TIME, FLOW(recv_time_ps), "0",
     .doc = "How long the receiver takes over each message before it posts its receive again; one "
            "after the other."},
    {"shared_recv", WF_KEY_ENUM, FLOW(shared_recv), "no", .names = no_yes,
     .doc = "Whether all such flows to a host take their receives from one queue (SRQ), which the "
            "first of them describes."},
    {"max_rd_atomic", WF_KEY_UINT, FLOW(max_rd_atomic), "16", 1, 128,
     .doc = "READs and atomics that the flow has outstanding at most."},
    {"max_dest_rd_atomic", WF_KEY_UINT, FLOW(max_dest_rd_atomic), "16", 0, 128,
     .doc = "READs and atomics that the receiver can answer at once; one more is refused."},
    {"connect", WF_KEY_UINT, FLOW(connect), "0", 0, 65535,
     .doc = "Ask the destination for a connection by rdma_cm (port space TCP, of ud UDP) at this "
            "port, carry "
            "out `op` with real bytes on the memory that its REP offers, or send them to its "
            "receives, and disconnect at the end; the destination is a real host or a model that "
            "listens "
            "(docs/howto-peers.md). 0: both "
            "ends are models and know each other."},
    {"connect_wait", WF_KEY_TIME, FLOW(connect_wait_ps), "0", 0, 3600 * WF_PS_PER_S,
     .doc = "With connect: how long after `start` it asks again, each second, while nobody listens "
            "or answers."},
    {"family", WF_KEY_ENUM, FLOW(family), "any", .names = family_names,
     .doc = "IPv4 or IPv6; any: IPv4 where both hosts have it."},
    {"program", WF_KEY_ENUM, FLOW(program), "weft", .names = program_names,
     .doc = "With connect: what the peer speaks. weft: as docs/howto-peers.md has it. rping: each "
            "message is a ping of `size` bytes to an rping server (-s), compared when it is back."},
};

const char *wf_flow_cfg_wrong(const struct wf_flow_cfg *cfg)
{
    if (cfg->service == WF_FLOW_UC && cfg->op > WF_WORK_SEND_IMM)
        return "service: uc knows write, write_imm, send and send_imm";
    if (cfg->service == WF_FLOW_UD && cfg->op != WF_WORK_SEND && cfg->op != WF_WORK_SEND_IMM)
        return "service: ud knows send and send_imm";
    if (cfg->service == WF_FLOW_UD && cfg->size_bytes > cfg->path_mtu)
        return "service: ud has messages of one packet: size is beyond path_mtu";
    if (cfg->service != WF_FLOW_RC && cfg->retransmit && cfg->retransmit != WF_RETRANSMIT_AUTO)
        return "retransmit: only rc sends anything again";
    if (cfg->connect && (cfg->service == WF_FLOW_UC || cfg->op == WF_WORK_SEND_INV ||
                         cfg->retransmit == WF_SELECTIVE))
        return "connect: knows rc and ud; all operations but send_inv; go_back_n and go_back_0";
    if (cfg->program && (!cfg->connect || cfg->service != WF_FLOW_RC || cfg->op != WF_WORK_WRITE))
        return "program: rping wants connect, service rc, and no op";
    if (cfg->connect && cfg->op >= WF_WORK_READ && cfg->rate_bps)
        return "rate: of a flow that connects nothing paces what READs bring";
    return NULL;
}

const struct wf_keyset wf_flow_keys = {
    .name = "flow",
    .doc = "Messages over one queue pair between two model hosts, or a model and a real one.",
    .keys = flow_rows,
    .n_keys = COUNT(flow_rows),
    .size = sizeof(struct wf_flow_cfg),
};
