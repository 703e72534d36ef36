/* SPDX-License-Identifier: BSD-3-Clause */
/* The pcapng writer, judged by libpcap, tshark and our reader; and what it does when writing fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <pcap/pcap.h>

#include "cap/pcapng.h"
#include "cap/reader.h"

static char dir[64];

static char *path_of(const char *name)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return path;
}

static uint8_t frame[9000];

static bool write_frame(struct wf_pcapng *w, uint32_t iface, uint64_t time_ps, uint32_t len,
                        const char *comment)
{
    /* in two pieces, as a replica's header and payload are */
    struct iovec iov[2] = {{frame, 14}, {frame + 14, len - 14}};
    struct wf_pcapng_packet pkt = {.iface = iface,
                                   .time_ps = time_ps,
                                   .len_bytes = len,
                                   .iov = iov,
                                   .n_iov = 2,
                                   .dir = WF_PCAPNG_DIR_OUT,
                                   .id = 7,
                                   .comment = comment};

    return wf_pcapng_write(w, &pkt);
}

static struct wf_pcapng *open_digits(const char *path, uint8_t digits)
{
    static const struct wf_pcapng_conf conf = {
        .hardware = "weft", .os = "Linux", .application = "weft test", .comment = "seed=1"};
    const struct wf_pcapng_iface a = {.name = "leaf0:p0",
                                      .description = "rx",
                                      .link_type = WF_LINK_ETHERNET,
                                      .time_digits = digits,
                                      .rate_bps = 100000000000ull};
    static const struct wf_pcapng_iface b = {.name = "spine1:p3",
                                             .link_type = WF_LINK_ETHERNET,
                                             .time_digits = 9,
                                             .snap_bytes = 64,
                                             .epoch_s = 1700000000};
    struct wf_err err = {0};
    struct wf_pcapng *w;

    assert_int_equal(wf_pcapng_open(&w, path, &conf, &err), 0);
    assert_int_equal(wf_pcapng_add_iface(w, &a, &err), 0);
    assert_int_equal(wf_pcapng_add_iface(w, &b, &err), 1);
    return w;
}

static struct wf_pcapng *open_two(const char *path)
{
    return open_digits(path, 12);
}

static void written_is_read_back(void **state)
{
    char *path = path_of("two.pcapng");
    struct wf_pcapng *w = open_two(path);
    struct wf_cap_reader *r;
    struct wf_cap_rec rec;
    struct wf_err err = {0};

    (void)state;
    assert_true(write_frame(w, 0, 1234567890123ull, 1086, "queue=4096B marked=no"));
    assert_true(write_frame(w, 1, 5000000000999ull, 1086, NULL));
    assert_true(wf_pcapng_write_custom(w, "hello", 5));
    assert_true(write_frame(w, 0, 0, 61, ""));
    assert_int_equal(wf_pcapng_close(w, &err), 0);

    assert_int_equal(wf_cap_open(&r, path, &err), 0);
    assert_int_equal(wf_cap_next(r, &rec, &err), 1);
    assert_string_equal(rec.iface->name, "leaf0:p0");
    assert_string_equal(rec.iface->description, "rx");
    assert_int_equal(rec.time.sec, 1);
    assert_int_equal(rec.time.ps, 234567890123ull);
    assert_int_equal(rec.cap_bytes, 1086);
    assert_memory_equal(rec.data, frame, 1086);
    assert_string_equal(rec.comment, "queue=4096B marked=no");
    assert_int_equal(rec.dir, WF_CAP_DIR_OUT);
    assert_int_equal(wf_cap_next(r, &rec, &err), 1);
    assert_string_equal(rec.iface->name, "spine1:p3");
    assert_int_equal(rec.time.sec, 1700000005);
    assert_int_equal(rec.time.ps, 0); /* the 999 ps are below this interface's resolution */
    assert_int_equal(rec.cap_bytes, 64);
    assert_int_equal(rec.len_bytes, 1086);
    assert_null(rec.comment);
    assert_int_equal(wf_cap_next(r, &rec, &err), 1);
    assert_int_equal(rec.cap_bytes, 61);
    assert_int_equal(wf_cap_next(r, &rec, &err), 0);
    wf_cap_close(r);
}

static void libpcap_reads_the_same(void **state)
{
    char *path = path_of("one.pcapng"), text[PCAP_ERRBUF_SIZE];
    static const struct wf_pcapng_iface a = {
        .name = "h0", .link_type = WF_LINK_ETHERNET, .time_digits = 12, .epoch_s = 1000};
    struct wf_pcapng *w;
    struct wf_err err;
    struct pcap_pkthdr *h;
    const u_char *data;
    pcap_t *p;

    (void)state;
    assert_int_equal(wf_pcapng_open(&w, path, NULL, &err), 0);
    assert_int_equal(wf_pcapng_add_iface(w, &a, &err), 0);
    for (uint32_t len = 14; len <= sizeof(frame); len += 97)
        assert_true(write_frame(w, 0, len * 1000000001000ull, len, "x=1"));
    assert_int_equal(wf_pcapng_close(w, &err), 0);

    p = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, text);
    assert_non_null(p);
    for (uint32_t len = 14; len <= sizeof(frame); len += 97) {
        assert_int_equal(pcap_next_ex(p, &h, &data), 1);
        assert_int_equal(h->len, len);
        assert_int_equal(h->caplen, len);
        assert_int_equal(h->ts.tv_sec, 1000 + len);
        assert_int_equal(h->ts.tv_usec, len);
        assert_memory_equal(data, frame, len);
    }
    assert_int_equal(pcap_next_ex(p, &h, &data), PCAP_ERROR_BREAK);
    pcap_close(p);
}

/* Each line is what tshark makes of one packet. In nanoseconds: tshark 4.0.17 multiplies a fraction
 * in picoseconds by 1e9 in 64 bits and so shows wrong times (1.013206961 s for 1.234567890123 s).
 */
static void tshark_reads_the_same(void **state)
{
    char *path = path_of("shark.pcapng"), cmd[512], line[256];
    struct wf_pcapng *w = open_digits(path, 9);
    struct wf_err err;
    FILE *f;

    (void)state;
    if (system("command -v tshark >/dev/null") != 0) {
        print_message("skipped: no tshark\n");
        skip();
    }
    write_frame(w, 0, 1234567890123ull, 1086, "queue=4096B marked=no");
    write_frame(w, 1, 5000000000999ull, 1086, "drop=mtu");
    assert_int_equal(wf_pcapng_close(w, &err), 0);
    snprintf(
        cmd, sizeof(cmd),
        "tshark -n -r %s -T fields -E separator='|' -e frame.interface_name -e frame.time_epoch "
        "-e frame.cap_len -e frame.len -e frame.comment -e frame.packet_flags_direction "
        "2>/dev/null",
        path);
    f = popen(cmd, "r");
    assert_non_null(fgets(line, sizeof(line), f));
    assert_non_null(strstr(line, "leaf0:p0|1.234567890"));
    assert_non_null(strstr(line, "|1086|1086|queue=4096B marked=no|"));
    assert_non_null(fgets(line, sizeof(line), f));
    assert_non_null(strstr(line, "spine1:p3|1700000005.000000000|64|1086|drop=mtu|"));
    assert_null(fgets(line, sizeof(line), f));
    assert_int_equal(pclose(f), 0);
    snprintf(cmd, sizeof(cmd),
             "capinfos %s >%s/infos 2>&1 && grep -q 'weft test' %s/infos && "
             "grep -q 'seed=1' %s/infos && grep -q 'Number of packets = 1' %s/infos",
             path, dir, dir, dir, dir);
    assert_int_equal(system(cmd), 0);
}

static void a_full_disk_is_told_once(void **state)
{
    struct wf_pcapng *w;
    struct wf_pcapng_counts c;
    struct wf_err err;

    (void)state;
    w = open_two("/dev/full");
    for (int i = 0; i < 10; i++)
        assert_true(write_frame(w, 0, i, 1000, NULL));
    assert_false(wf_pcapng_flush(w));
    assert_false(write_frame(w, 0, 11, 1000, NULL));
    c = wf_pcapng_counts(w);
    assert_int_equal(c.packets, 0);
    assert_int_equal(c.lost, 11);
    assert_true(wf_pcapng_take_error(w, &err));
    assert_string_equal(err.file, "/dev/full");
    assert_non_null(strstr(err.msg, "No space left on device"));
    assert_false(wf_pcapng_take_error(w, &err));
    assert_int_equal(wf_pcapng_close(w, &err), -ENOSPC);
}

/* The kernel takes a part of a block only: what stays is a whole file with the counted packets. */
static void a_short_write_leaves_whole_blocks(void **state)
{
    char *path = path_of("short.pcapng");
    struct rlimit old, limit;
    struct wf_pcapng_counts c;
    struct wf_cap_reader *r;
    struct wf_cap_rec rec;
    struct wf_err err;
    struct wf_pcapng *w = open_two(path);
    uint64_t n = 0;

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    limit = old;
    limit.rlim_cur = 50001;
    setrlimit(RLIMIT_FSIZE, &limit);
    for (int i = 0; i < 100; i++)
        write_frame(w, 0, i, 1000, NULL);
    assert_false(wf_pcapng_flush(w));
    setrlimit(RLIMIT_FSIZE, &old);
    c = wf_pcapng_counts(w);
    assert_true(c.packets > 40 && c.packets < 50);
    assert_int_equal(c.packets + c.lost, 100);
    assert_int_equal(wf_pcapng_close(w, &err), -EFBIG);
    assert_int_equal(wf_cap_open(&r, path, &err), 0);
    while (wf_cap_next(r, &rec, &err) == 1)
        n++;
    assert_int_equal(wf_cap_next(r, &rec, &err), 0); /* the end, no error */
    assert_int_equal(n, c.packets);
    wf_cap_close(r);
}

static void *take_a_little(void *path)
{
    uint8_t buf[100];
    int fd = open(path, O_RDONLY);

    assert_true(read(fd, buf, sizeof(buf)) > 0);
    close(fd);
    return NULL;
}

static void a_fifo_whose_reader_left_is_no_end(void **state)
{
    char *path = path_of("fifo");
    struct wf_pcapng *w;
    struct wf_err err;
    pthread_t t;

    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(pthread_create(&t, NULL, take_a_little, path), 0);
    w = open_two(path);
    wf_pcapng_flush(w);
    pthread_join(t, NULL);
    write_frame(w, 0, 1, 1000, NULL);
    assert_false(wf_pcapng_flush(w)); /* and no SIGPIPE: its default would end this test */
    assert_int_equal(wf_pcapng_counts(w).lost, 1);
    assert_int_equal(wf_pcapng_close(w, &err), -EPIPE);
}

static void a_path_that_cannot_be_is_an_error(void **state)
{
    struct wf_pcapng *w;
    struct wf_err err;

    (void)state;
    assert_int_equal(wf_pcapng_open(&w, "/nonexistent/x.pcapng", NULL, &err), -ENOENT);
    assert_string_equal(err.file, "/nonexistent/x.pcapng");
    assert_null(w);
}

static int setup(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/weft-pcapng-XXXXXX");
    for (size_t i = 0; i < sizeof(frame); i++)
        frame[i] = (uint8_t)(i * 7);
    return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
    char cmd[128];

    (void)state;
    snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
    return system(cmd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_is_read_back),
        cmocka_unit_test(libpcap_reads_the_same),
        cmocka_unit_test(tshark_reads_the_same),
        cmocka_unit_test(a_full_disk_is_told_once),
        cmocka_unit_test(a_short_write_leaves_whole_blocks),
        cmocka_unit_test(a_fifo_whose_reader_left_is_no_end),
        cmocka_unit_test(a_path_that_cannot_be_is_an_error),
    };

    return cmocka_run_group_tests_name("cap/pcapng", tests, setup, teardown);
}
