/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The manifest of an output: what it takes to make it again, and on what it was made. JSON outputs
 * have it as their object `manifest`, captures and tables as one line of text.
 *
 * The scenario's hash is the SHA-256 of its canonical text: the file and its profiles with --set
 * applied, aliases resolved, without comments, places and layout. `weft check --canonical` prints
 * that text, so that `sha256sum` gives the same. A seed given by --seed is not in it.
 */
#ifndef WEFT_SCEN_MANIFEST_H
#define WEFT_SCEN_MANIFEST_H

#include <jansson.h>

#include "scen/scenario.h"

struct wf_manifest {
    const struct wf_scenario *scen;
    const char *command; /* the command line; may be NULL */
    const char *digest;  /* NULL: not known yet */
    uint64_t seed;
};

/* version, scenario, scenario_sha256, seed, digest, command, kernel, arch, cpus, cpu, compiler */
json_t *wf_manifest_json(const struct wf_manifest *m);
/* "weft 0.1.0+9d9150d, scenario incast (sha256 5f0c...), seed 1, ..." in buf, which is returned. */
const char *wf_manifest_text(const struct wf_manifest *m, char *buf, size_t len);

/* Only the machine and the program: version, kernel, arch, cpus, cpu, compiler. */
json_t *wf_manifest_machine(void);

#endif
