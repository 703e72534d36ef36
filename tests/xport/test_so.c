/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transport as a shared object: it needs nothing but libc, and a WRITE goes through two queue
 * pairs of it. This program is linked against the object alone and not against weft; that nothing
 * in it is unresolved is the linker's word (--no-undefined).
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "pair.h"

static void test_needs_only_libc(void **state)
{
    void *so = dlopen("libweft-xport.so", RTLD_NOW | RTLD_NOLOAD); /* it is loaded already */
    const char *strings = NULL;
    struct link_map *map;
    uint32_t needed = 0;

    assert_non_null(so);
    assert_int_equal(dlinfo(so, RTLD_DI_LINKMAP, &map), 0);
    assert_non_null(strstr(map->l_name, "libweft-xport"));
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_STRTAB)
            strings = (const char *)d->d_un.d_ptr;
    assert_non_null(strings);
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_NEEDED) {
            assert_string_equal(strings + d->d_un.d_val, "libc.so.6");
            needed++;
        }
    assert_int_equal(needed, 1);
    dlclose(so);
}

static void test_write(void **state)
{
    struct wf_qp_cfg cfg = end_cfg(0xffffff, 1024, 1 << 20);
    static uint8_t data[5000];
    struct frame f;
    Dl_info where;

    assert_int_not_equal(dladdr((void *)(uintptr_t)wf_qp_rx, &where), 0);
    assert_non_null(strstr(where.dli_fname, "libweft-xport"));
    memset(data, 0x5a, sizeof(data));
    end_init(&a, &cfg);
    end_init(&b, &cfg);
    assert_int_equal(post_write(&a, 7, data, sizeof(data), MEM_VA + 1), 0);
    while (pull(&a, 0, &f))
        assert_int_equal(deliver(&b, &f, 0), WF_QP_TAKEN);
    while (pull(&b, 0, &f))
        assert_int_equal(deliver(&a, &f, 0), WF_QP_TAKEN);
    assert_memory_equal(b.mem + GUARD + 1, data, sizeof(data));
    assert_int_equal(a.n_wc, 1);
    assert_int_equal(a.wc[0].id, 7);
    end_guards(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_needs_only_libc),
        cmocka_unit_test(test_write),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
