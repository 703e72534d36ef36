/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The capture files of an analysis, as one sequence of records in the order of time. Files that
 * were given for one capture point are one capture that was rotated: they are read one after the
 * other by the time of their first packet. Several points are read side by side, each by a clock of
 * its own; so are the interfaces of a pcapng file, which share a clock.
 */
#ifndef WEFT_ANALYZE_INPUT_H
#define WEFT_ANALYZE_INPUT_H

#include "analyze/analyze.h"

enum { WF_AN_FILES = 65535, WF_AN_SOURCES = 64 };

#define WF_AN_DRIFT_SPAN_PS 1000000000000 /* less than 1 s says nothing about a clock's rate */

struct wf_an_file {
    const char *path;
    struct wf_cap_time first;
    uint64_t packets;
    bool bad; /* read as far as it goes: see `why` of the input for the first one */
};

/* The files of one capture point. */
struct wf_an_source {
    const char *name; /* as given; NULL: the interface's or the file's */
    unsigned first_file, n_files, at;
    struct wf_cap_reader *reader;
    struct wf_cap_rec rec;
    bool have, ended, fresh;  /* fresh: *rec is the first one of a file behind another */
    struct wf_cap_time start; /* of its first record: what time 0 is on its clock */
    bool started;
    int64_t last_ps;
    int64_t t_ps, offset_ps; /* of *rec on the common clock; added to this source's clock */
    double drift;            /* and added for each picosecond since the start */
    uint64_t matched;        /* packets that tell so; 0: the clock was not aligned */
    bool one_way;            /* and they went one way only */
    bool jumped;             /* their times disagree with any drift: held against the first half */
    uint16_t point_of[256];  /* by interface, 1 + point; 0: not known yet */
};

struct wf_an_input {
    struct wf_an_file *files;
    unsigned n_files;
    struct wf_an_source *sources;
    unsigned n_sources;
    int failed; /* the first -errno: the files were read in part */
    struct wf_err why;
    uint64_t overlaps;   /* files that begin long before the one before them ends */
    const char *foreign; /* the first file with a link type that can't be looked into */
    uint16_t foreign_link;
};

/* Since the source's start; times that cannot be are cut off where sums stay safe. */
int64_t wf_an_since(const struct wf_an_source *s, struct wf_cap_time t);
/* How far the clock of a source is ahead of the first one's. */
int64_t wf_an_ahead_ps(const struct wf_an_input *in, const struct wf_an_source *s);

int wf_an_input_init(struct wf_an_input *in, struct wf_err *err);
/* One capture point; paths[0..n) live as long as the input. name: NULL or what to call it. */
int wf_an_input_add(struct wf_an_input *in, const char *name, const char *const *paths, size_t n,
                    struct wf_err *err);
/* Read the next record and give it to the analysis. 1; 0: that was all; -errno: nothing of any file
 * could be read. */
int wf_an_input_step(struct wf_an_input *in, struct wf_analyze *a, struct wf_err *err);
void wf_an_input_free(struct wf_an_input *in);

#endif
