/* SPDX-License-Identifier: BSD-3-Clause */
#include "scen/manifest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cap/json.h"
#include "base/version.h"

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

/* "model name" of the first processor; "" where /proc does not say. */
static void cpu_model(char *buf, size_t len)
{
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "re");

    buf[0] = 0;
    while (f && fgets(line, sizeof(line), f)) {
        const char *colon = strchr(line, ':');

        if (strncmp(line, "model name", 10) || !colon)
            continue;
        snprintf(buf, len, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        break;
    }
    if (f)
        fclose(f);
}

json_t *wf_manifest_machine(void)
{
    struct utsname u = {0};
    char cpu[128];

    uname(&u);
    cpu_model(cpu, sizeof(cpu));
    return json_pack("{s:s, s:s, s:s, s:i, s:s, s:s}", "version", wf_version(), "kernel", u.release,
                     "arch", u.machine, "cpus", (int)sysconf(_SC_NPROCESSORS_ONLN), "cpu", cpu,
                     "compiler", COMPILER);
}

json_t *wf_manifest_json(const struct wf_manifest *m)
{
    json_t *j = wf_manifest_machine();

    json_object_set_new(j, "scenario", json_string(m->scen->path));
    json_object_set_new(j, "scenario_sha256", json_string(m->scen->sha256));
    json_object_set_new(j, "seed", wf_json_u64(m->seed));
    json_object_set_new(j, "digest", m->digest ? json_string(m->digest) : json_null());
    json_object_set_new(j, "command", m->command ? json_string(m->command) : json_null());
    return j;
}

const char *wf_manifest_text(const struct wf_manifest *m, char *buf, size_t len)
{
    struct utsname u = {0};

    uname(&u);
    snprintf(buf, len,
             "weft %s, scenario %s (sha256 %s), seed %" PRIu64 "%s%s, command: %s, on %s %s, %s",
             wf_version(), m->scen->opts.name, m->scen->sha256, m->seed,
             m->digest ? ", digest " : "", m->digest ? m->digest : "",
             m->command ? m->command : "-", u.sysname, u.release, COMPILER);
    return buf;
}
