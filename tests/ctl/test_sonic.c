/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SONiC's views, from rows that are written down here, held against what SONiC's commands print for
 * such counters: their titles, columns, widths and commas (sonic-utilities: pfcstat, queuestat,
 * watermarkstat, pg-drop, portstat).
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ctl/sonic.h"

static const char ports[] =
    "[{\"name\": \"Ethernet0\", \"kind\": \"switch\", \"up\": true, \"rate_bps\": 25000000000,"
    "  \"rx_frames\": 8, \"rx_bytes\": 6000000, \"tx_frames\": 10, \"tx_bytes\": 4500000},"
    " {\"name\": \"Ethernet4\", \"kind\": \"switch\", \"up\": false,"
    "  \"rx_frames\": 4000, \"rx_bytes\": 614400, \"tx_frames\": 40, \"tx_bytes\": 24,"
    "  \"trim_frames\": 100, \"trim_tx_frames\": 50, \"trim_drop_frames\": 50},"
    " {\"name\": \"h0:p0\", \"kind\": \"host\", \"up\": true, \"rate_bps\": 25000000000}]";
static const char priorities[] =
    "[{\"name\": \"Ethernet0.prio0\", \"pfc_xoff_rx_frames\": 1000, \"pfc_refresh_rx_frames\": 150,"
    "  \"pfc_xon_rx_frames\": 50, \"pfc_xoff_tx_frames\": 1210},"
    " {\"name\": \"Ethernet4.prio7\", \"pfc_xon_rx_frames\": 407, \"pfc_refresh_tx_frames\": 417},"
    " {\"name\": \"h0:p0.prio3\", \"pfc_xoff_rx_frames\": \"9007199254740993\"}]";
static const char queues[] =
    "[{\"name\": \"Ethernet0.q1\", \"tx_frames\": 1234567, \"tx_bytes\": 43, \"drop_frames\": 39, "
    "\"drop_bytes\": 4321,"
    "  \"queue_max_bytes\": 2057328, \"trim_frames\": 20000, \"trim_tx_frames\": 15000,"
    "  \"trim_drop_frames\": 5000}]";
static const char groups[] = "[{\"name\": \"Ethernet0.pg3\", \"drop_frames\": 801}]";
static const char watermarks[] =
    "[{\"name\": \"Ethernet0.pg3\", \"user_shared_max_bytes\": 1234567, \"shared_max_bytes\": "
    "2345678,"
    "  \"user_headroom_max_bytes\": 103, \"headroom_max_bytes\": 104},"
    " {\"name\": \"Ethernet0.q1\", \"user_queue_max_bytes\": 2057328, \"queue_max_bytes\": "
    "3000000},"
    " {\"name\": \"switch.ipool0\", \"user_pool_max_bytes\": 2000, \"pool_max_bytes\": 3000,"
    "  \"user_headroom_max_bytes\": 432, \"headroom_max_bytes\": 863},"
    " {\"name\": \"switch.epool1\", \"user_pool_max_bytes\": 3000, \"pool_max_bytes\": 4000}]";
static const char drops[] =
    "[{\"name\": \"Ethernet0\", \"reason\": \"fcs\", \"frames\": 6},"
    " {\"name\": \"Ethernet0\", \"reason\": \"malformed\", \"frames\": 4},"
    " {\"name\": \"Ethernet0\", \"reason\": \"mtu\", \"frames\": 100},"
    " {\"name\": \"Ethernet0\", \"reason\": \"egress_full\", \"frames\": 70},"
    " {\"name\": \"Ethernet0\", \"reason\": \"link_loss\", \"frames\": 7},"
    " {\"name\": \"Ethernet4\", \"reason\": \"link_down\", \"frames\": 1000}]";

static const char watchdogs[] =
    "[{\"name\": \"Ethernet0.pfcwd3\", \"storm_active_events\": 1, \"storm_detected_events\": 1,"
    "  \"storm_tx_ok_frames\": 100, \"storm_tx_drop_frames\": 300, \"storm_rx_ok_frames\": 100,"
    "  \"storm_rx_drop_frames\": 300, \"storm_last_tx_drop_frames\": 200,"
    "  \"storm_last_rx_drop_frames\": 200},"
    " {\"name\": \"Ethernet0.pfcwd4\"},"
    " {\"name\": \"Ethernet4.pfcwd3\", \"storm_detected_events\": 2, \"storm_restored_events\": 2,"
    "  \"storm_tx_ok_frames\": 100, \"storm_tx_drop_frames\": 100, \"storm_rx_ok_frames\": 100,"
    "  \"storm_rx_drop_frames\": 100}]";

static json_t *rows(void *arg, const char *view, struct wf_err *err)
{
    static const struct {
        const char *view, *rows;
    } all[] = {{"ports", ports},          {"priorities", priorities}, {"queues", queues},
               {"groups", groups},        {"drops", drops},           {"watchdogs", watchdogs},
               {"watermarks", watermarks}};

    ((struct wf_sonic_source *)arg)->time_ps = 3000000000; /* 3 ms */
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (!strcmp(view, all[i].view))
            return json_loads(all[i].rows, 0, NULL);
    wf_err_set(err, EINVAL, "no %s", view);
    return NULL;
}

static void shows(const char *view, const char *at, const char *text)
{
    struct wf_sonic_source src = {.rows = rows, .arg = &src};
    struct wf_err err;
    json_t *tables = wf_sonic_tables(view, &src, at, &err);
    char *out = NULL;
    size_t len;
    FILE *f = open_memstream(&out, &len);

    assert_non_null(tables);
    wf_sonic_print(view, tables, f);
    fclose(f);
    assert_string_equal(out, text);
    free(out);
    json_decref(tables);
}

static void pauses_by_priority(void **state)
{
    (void)state;
    shows("pfc counters", NULL,
          "  Port Rx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7\n"
          "---------  ------  ------  ------  ------  ------  ------  ------  ------\n"
          "Ethernet0   1,200       0       0       0       0       0       0       0\n"
          "Ethernet4       0       0       0       0       0       0       0     407\n"
          "\n"
          "  Port Tx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7\n"
          "---------  ------  ------  ------  ------  ------  ------  ------  ------\n"
          "Ethernet0   1,210       0       0       0       0       0       0       0\n"
          "Ethernet4       0       0       0       0       0       0       0     417\n");
}

static void queues_of_a_port(void **state)
{
    (void)state;
    shows("queue counters", "Ethernet0",
          "     Port    TxQ    Counter/pkts    Counter/bytes    Drop/pkts    Drop/bytes\n"
          "---------  -----  --------------  ---------------  -----------  ------------\n"
          "Ethernet0    UC0               0                0            0             0\n"
          "Ethernet0    UC1       1,234,567               43           39         4,321\n"
          "Ethernet0    UC2               0                0            0             0\n"
          "Ethernet0    UC3               0                0            0             0\n"
          "Ethernet0    UC4               0                0            0             0\n"
          "Ethernet0    UC5               0                0            0             0\n"
          "Ethernet0    UC6               0                0            0             0\n"
          "Ethernet0    UC7               0                0            0             0\n");
}

static void watermarks_and_drops_of_groups(void **state)
{
    (void)state;
    shows("priority-group watermark shared", NULL,
          "Ingress shared pool occupancy per PG:\n"
          "     Port    PG0    PG1    PG2      PG3    PG4    PG5    PG6    PG7\n"
          "---------  -----  -----  -----  -------  -----  -----  -----  -----\n"
          "Ethernet0      0      0      0  1234567      0      0      0      0\n"
          "Ethernet4      0      0      0        0      0      0      0      0\n");
    shows("priority-group watermark headroom", "*4",
          "Ingress headroom per PG:\n"
          "     Port    PG0    PG1    PG2    PG3    PG4    PG5    PG6    PG7\n"
          "---------  -----  -----  -----  -----  -----  -----  -----  -----\n"
          "Ethernet4      0      0      0      0      0      0      0      0\n");
    shows("priority-group drop counters", "Ethernet0",
          "Ingress PG dropped packets:\n"
          "     Port    PG0    PG1    PG2    PG3    PG4    PG5    PG6    PG7\n"
          "---------  -----  -----  -----  -----  -----  -----  -----  -----\n"
          "Ethernet0      0      0      0    801      0      0      0      0\n");
    shows("queue watermark unicast", "Ethernet0",
          "Egress shared pool occupancy per unicast queue:\n"
          "     Port    UC0      UC1    UC2    UC3    UC4    UC5    UC6    UC7\n"
          "---------  -----  -------  -----  -----  -----  -----  -----  -----\n"
          "Ethernet0      0  2057328      0      0      0      0      0      0\n");
}

/* 6 MB in 3 ms are 2,000 MB/s, which of 25 Gbit/s are 64 percent. */
static void interfaces(void **state)
{
    (void)state;
    shows("interfaces counters", NULL,
          "    IFACE    STATE    RX_OK        RX_BPS    RX_UTIL    RX_ERR    RX_DRP    RX_OVR    "
          "TX_OK        TX_BPS    TX_UTIL    TX_ERR    TX_DRP    TX_OVR\n"
          "---------  -------  -------  ------------  ---------  --------  --------  --------  "
          "-------  ------------  ---------  --------  --------  --------\n"
          "Ethernet0        U        8  2000.00 MB/s     64.00%        10       100       N/A  "
          "     10  1500.00 MB/s     48.00%         0        39       N/A\n"
          "Ethernet4        D    4,000   204.80 MB/s        N/A         0         0       N/A  "
          "     40   8000.00 B/s        N/A         0     1,000       N/A\n");
}

static void pools_and_what_is_persistent(void **state)
{
    (void)state;
    shows("buffer_pool watermark", NULL,
          "Shared pool maximum occupancy:\n"
          "         Pool    Bytes\n"
          "-------------  -------\n"
          "switch.ipool0     2000\n"
          "switch.epool1     3000\n");
    shows("headroom-pool persistent-watermark", "switch.*",
          "Headroom pool maximum occupancy:\n"
          "         Pool    Bytes\n"
          "-------------  -------\n"
          "switch.ipool0      863\n");
    shows("priority-group persistent-watermark shared", "Ethernet0",
          "Ingress shared pool occupancy per PG:\n"
          "     Port    PG0    PG1    PG2      PG3    PG4    PG5    PG6    PG7\n"
          "---------  -----  -----  -----  -------  -----  -----  -----  -----\n"
          "Ethernet0      0      0      0  2345678      0      0      0      0\n");
    shows("queue persistent-watermark unicast", "Ethernet0",
          "Egress shared pool occupancy per unicast queue:\n"
          "     Port    UC0      UC1    UC2    UC3    UC4    UC5    UC6    UC7\n"
          "---------  -----  -------  -----  -----  -----  -----  -----  -----\n"
          "Ethernet0      0  3000000      0      0      0      0      0      0\n");
}

static void storms(void **state)
{
    (void)state;
    shows("pfcwd stats", NULL,
          "      QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP    "
          "TX LAST OK/DROP    RX LAST OK/DROP\n"
          "-----------  -----------  -------------------------  ------------  ------------  "
          "-----------------  -----------------\n"
          "Ethernet0:3      stormed                        1/0       100/300       100/300  "
          "            0/200              0/200\n"
          "Ethernet4:3  operational                        2/2       100/100       100/100  "
          "              0/0                0/0\n");
}

static void trims(void **state)
{
    (void)state;
    shows("interfaces counters trim", NULL,
          "    IFACE    STATE    TRIM_PKTS    TRIM_TX_PKTS    TRIM_DRP_PKTS\n"
          "---------  -------  -----------  --------------  ---------------\n"
          "Ethernet0        U            0               0                0\n"
          "Ethernet4        D          100              50               50\n");
    shows("queue counters trim", "Ethernet0",
          "     Port    TxQ    Trim/pkts    TrimSent/pkts    TrimDrop/pkts\n"
          "---------  -----  -----------  ---------------  ---------------\n"
          "Ethernet0    UC0            0                0                0\n"
          "Ethernet0    UC1       20,000           15,000            5,000\n"
          "Ethernet0    UC2            0                0                0\n"
          "Ethernet0    UC3            0                0                0\n"
          "Ethernet0    UC4            0                0                0\n"
          "Ethernet0    UC5            0                0                0\n"
          "Ethernet0    UC6            0                0                0\n"
          "Ethernet0    UC7            0                0                0\n");
}

/* Hosts are shown when they are asked for, and what exceeds a double's digits is exact. */
static void only_what_is_asked_for(void **state)
{
    struct wf_sonic_source src = {.rows = rows, .arg = &src};
    struct wf_err err;
    json_t *tables = wf_sonic_tables("pfc counters", &src, "h*", &err), *v;

    (void)state;
    assert_non_null(tables);
    v = json_object_get(json_array_get(tables, 0), "rows");
    assert_int_equal(json_array_size(v), 1);
    v = json_object_get(json_array_get(v, 0), "PFC3");
    assert_string_equal(json_string_value(v), "9007199254740993");
    json_decref(tables);
    assert_null(wf_sonic_tables("pfc counters", &src, "Ethernet1", &err));
    assert_string_equal(err.msg, "none of the ports fits 'Ethernet1'; there are Ethernet0, "
                                 "Ethernet4, h0:p0; did you mean 'Ethernet0'?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pauses_by_priority),
        cmocka_unit_test(queues_of_a_port),
        cmocka_unit_test(watermarks_and_drops_of_groups),
        cmocka_unit_test(interfaces),
        cmocka_unit_test(pools_and_what_is_persistent),
        cmocka_unit_test(storms),
        cmocka_unit_test(trims),
        cmocka_unit_test(only_what_is_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
