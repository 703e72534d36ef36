/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of generated descriptions: who is linked to whom in a fat tree, and default addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fabric/desc.h"

static struct wf_arena arena;

static int forget(void **state)
{
    (void)state;
    wf_arena_free(&arena);
    return 0;
}

static struct wf_desc *fat_tree(uint32_t k, uint32_t pods, uint32_t hosts_per_edge)
{
    struct wf_desc *d = WF_ARENA_NEW(&arena, struct wf_desc);

    wf_desc_fat_tree(d, &arena, &(struct wf_fat_tree){k, pods, hosts_per_edge});
    return d;
}

static const char *name_of(const struct wf_desc *d, struct wf_desc_end e)
{
    return e.is_host ? d->hosts[e.index].name : d->switches[e.index].name;
}

/* The names of a tier and number: "edge3" is 'e' and 3. */
static char tier_of(const char *name, unsigned *number)
{
    *number = (unsigned)atoi(name + strcspn(name, "0123456789"));
    return name[0];
}

static unsigned count_links(const struct wf_desc *d, const char *node)
{
    unsigned n = 0;

    for (uint32_t i = 0; i < d->n_links; i++)
        n += !strcmp(name_of(d, d->links[i].a), node) + !strcmp(name_of(d, d->links[i].b), node);
    return n;
}

/* Each link by its names, after the definition of a fat tree. */
static void check_links(const struct wf_desc *d, unsigned k, unsigned hosts_per_edge)
{
    unsigned half = k / 2;

    for (uint32_t i = 0; i < d->n_links; i++) {
        unsigned a, b;
        char ta = tier_of(name_of(d, d->links[i].a), &a);
        char tb = tier_of(name_of(d, d->links[i].b), &b);

        if (ta == 'h')
            assert_true(tb == 'e' && a / hosts_per_edge == b);
        else if (ta == 'e')
            assert_true(tb == 'a' && a / half == b / half);
        else
            assert_true(ta == 'a' && tb == 'c' && a % half == b / half);
    }
}

static void a_fat_tree_is_linked_as_defined(void **state)
{
    static const unsigned cases[][3] = {{2, 2, 1}, {4, 4, 2},  {4, 3, 2},
                                        {8, 8, 4}, {8, 2, 12}, {6, 1, 3}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        unsigned k = cases[i][0], pods = cases[i][1], hosts = cases[i][2], half = k / 2;
        struct wf_desc *d = fat_tree(k, pods, hosts);

        assert_int_equal(d->n_switches, 2 * pods * half + half * half);
        assert_int_equal(d->n_hosts, pods * half * hosts);
        assert_int_equal(d->n_links, d->n_hosts + 2 * pods * half * half);
        check_links(d, k, hosts);
        for (uint32_t s = 0; s < d->n_switches; s++) {
            unsigned number;
            char tier = tier_of(d->switches[s].name, &number);

            assert_int_equal(count_links(d, d->switches[s].name), tier == 'e'   ? half + hosts
                                                                  : tier == 'a' ? k
                                                                                : pods);
        }
    }
}

/* A port's number follows from the pod and the position. */
static void ports_of_a_fat_tree_count_by_position(void **state)
{
    struct wf_desc *d = fat_tree(4, 4, 2);
    char a[32], b[32];

    (void)state;
    for (uint32_t i = 0; i < d->n_links; i++) {
        wf_desc_port_name(d, i, 0, a, sizeof(a));
        wf_desc_port_name(d, i, 1, b, sizeof(b));
        if (!strcmp(a, "h5:p0"))
            assert_string_equal(b, "edge2:p1");
        if (!strcmp(a, "edge5:p3"))
            assert_string_equal(b, "agg5:p1");
        if (!strcmp(a, "agg6:p3"))
            assert_string_equal(b, "core1:p3");
    }
}

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, 16);
}

/* Host i's default addresses as text. */
static void expect_ip(const struct wf_desc *d, uint32_t host, const char *ip, const char *gateway)
{
    const struct wf_host_cfg *c = &d->hosts[host].cfg;
    char text[2][32];

    snprintf(text[0], 32, "%u.%u.%u.%u/%u", c->ip.addr[12], c->ip.addr[13], c->ip.addr[14],
             c->ip.addr[15], c->ip.len);
    snprintf(text[1], 32, "%u.%u.%u.%u", c->gateway.addr[12], c->gateway.addr[13],
             c->gateway.addr[14], c->gateway.addr[15]);
    assert_string_equal(text[0], ip);
    assert_string_equal(text[1], gateway);
}

/* Within one address's subnet, and apart from the gateway and from all others. */
static void expect_unique(const struct wf_desc *d)
{
    uint8_t(*v)[16] = calloc(d->n_hosts, 16);
    const size_t offs[] = {offsetof(struct wf_host_cfg, ip), offsetof(struct wf_host_cfg, ip6)};

    for (int f = 0; f < 2; f++) {
        for (uint32_t i = 0; i < d->n_hosts; i++)
            memcpy(v[i], (const char *)&d->hosts[i].cfg + offs[f], 16);
        qsort(v, d->n_hosts, 16, by_bytes);
        for (uint32_t i = 1; i < d->n_hosts; i++)
            assert_memory_not_equal(v[i], v[i - 1], 16);
    }
    for (uint32_t i = 0; i < d->n_hosts; i++) {
        const struct wf_host_cfg *c = &d->hosts[i].cfg;

        assert_memory_not_equal(c->ip.addr, c->gateway.addr, 16);
        for (unsigned bit = 96; bit < 96u + c->ip.len; bit++)
            assert_false((c->ip.addr[bit / 8] ^ c->gateway.addr[bit / 8]) & 0x80 >> bit % 8);
    }
    free(v);
}

static void few_leaves_have_sixteen_bits_each(void **state)
{
    struct wf_desc d = {.name = "t"};

    (void)state;
    wf_desc_leaf_spine(&d, &arena, 256, 1, 3);
    wf_desc_address(&d, &arena);
    expect_ip(&d, 0, "10.0.0.1/16", "10.0.255.254");
    expect_ip(&d, 767, "10.255.0.3/16", "10.255.255.254");
    expect_unique(&d);
}

static void many_leaves_have_eight_bits_each(void **state)
{
    struct wf_desc *d = fat_tree(64, 64, 32);

    (void)state;
    assert_int_equal(d->n_hosts, 65536);
    wf_desc_address(d, &arena);
    expect_ip(d, 0, "10.0.0.1/24", "10.0.0.254");
    expect_ip(d, 256 * 32 + 31, "10.1.0.32/24", "10.1.0.254");
    expect_ip(d, 65535, "10.7.255.32/24", "10.7.255.254");
    expect_unique(d);
}

static void large_leaves_have_what_the_number_of_leaves_leaves(void **state)
{
    struct wf_desc d = {.name = "t"};

    (void)state;
    wf_desc_leaf_spine(&d, &arena, 300, 1, 300);
    wf_desc_address(&d, &arena);
    expect_ip(&d, 0, "10.0.0.1/17", "10.0.127.254");
    expect_ip(&d, 299 * 300 + 299, "10.149.129.44/17", "10.149.255.254");
    expect_unique(&d);
}

static void one_bridged_network_holds_all_hosts(void **state)
{
    struct wf_desc *d = fat_tree(64, 64, 32);

    (void)state;
    for (uint32_t i = 0; i < d->n_switches; i++)
        d->switches[i].cfg.forwarding = WF_FORWARD_L2;
    wf_desc_address(d, &arena);
    expect_ip(d, 0, "10.0.0.1/8", "10.255.255.254");
    expect_ip(d, 65535, "10.1.0.0/8", "10.255.255.254");
    expect_unique(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_fat_tree_is_linked_as_defined, forget),
        cmocka_unit_test_teardown(ports_of_a_fat_tree_count_by_position, forget),
        cmocka_unit_test_teardown(few_leaves_have_sixteen_bits_each, forget),
        cmocka_unit_test_teardown(many_leaves_have_eight_bits_each, forget),
        cmocka_unit_test_teardown(large_leaves_have_what_the_number_of_leaves_leaves, forget),
        cmocka_unit_test_teardown(one_bridged_network_holds_all_hosts, forget),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
