/* SPDX-License-Identifier: BSD-3-Clause */
/* --record, see cmd_record.h. */
#include "cmd_record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <rte_version.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cap/json.h"
#include "base/assert.h"
#include "base/version.h"
#include "scen/manifest.h"
#include "sim/clock.h"

enum { NAME_LEN = 128 };

/* --- the folder ------------------------------------------------------------------------------- */

static const char *in_part(const struct wf_record *r, const char *name, char *buf, size_t len)
{
    snprintf(buf, len, "%s/%s", r->part, name);
    return buf;
}

static int write_json(const struct wf_record *r, const char *name, const json_t *j,
                      struct wf_err *err)
{
    char path[PATH_MAX + NAME_LEN], tmp[PATH_MAX + NAME_LEN + 8];
    FILE *f;
    int bad;

    in_part(r, name, path, sizeof(path));
    snprintf(tmp, sizeof(tmp), "%s.tmp", path);
    f = fopen(tmp, "we");
    if (!f)
        return wf_err_at(err, errno, tmp, 0, 0, "cannot be written: %s", strerror(errno));
    errno = 0;
    bad = json_dumpf(j, f, JSON_INDENT(1)) || fputc('\n', f) == EOF;
    bad |= fclose(f) != 0;
    if (!bad && !rename(tmp, path))
        return 0;
    bad = errno ? errno : EIO;
    unlink(tmp);
    return wf_err_at(err, bad, path, 0, 0, "cannot be written: %s", strerror(bad));
}

static int copy_file(const char *from, const char *to, struct wf_err *err)
{
    FILE *in = fopen(from, "re"), *out = in ? fopen(to, "we") : NULL;
    int code = in && out ? 0 : errno;
    char buf[8192];
    size_t n;

    while (!code && (n = fread(buf, 1, sizeof(buf), in)))
        if (fwrite(buf, 1, n, out) != n)
            code = errno ? errno : EIO;
    if (in && ferror(in) && !code)
        code = EIO;
    if (in)
        fclose(in);
    if (out && fclose(out) && !code)
        code = errno;
    return code ? wf_err_at(err, code, to, 0, 0, "%s cannot be copied here: %s", from,
                            strerror(code))
                : 0;
}

/* "profiles/0-rxe.yaml": by its place in the order, and a name for people. Behind the profiles are
 * other files that the scenario names. */
static const char *profile_name(const struct wf_scenario *scen, uint32_t i, char *buf, size_t len)
{
    bool profile = i < scen->n_profiles;
    const char *name = profile ? scen->profiles[i] : scen->file_names[i - scen->n_profiles];
    const char *slash = strrchr(name, '/');

    name = slash ? slash + 1 : name;
    snprintf(buf, len, "profiles/%02u-%.*s%s", i, (int)strcspn(name, "."), name,
             profile ? ".yaml" : ".txt");
    return buf;
}

static int copy_scenario(const struct wf_record *r, const struct wf_scenario *scen,
                         struct wf_err *err)
{
    char path[PATH_MAX + NAME_LEN], name[NAME_LEN];
    int rc = copy_file(scen->path, in_part(r, WF_BUNDLE_SCEN, path, sizeof(path)), err);
    uint32_t n = scen->n_profiles + scen->n_files;

    if (!rc && n && mkdir(in_part(r, "profiles", path, sizeof(path)), 0755))
        rc = wf_err_at(err, errno, path, 0, 0, "cannot be made: %s", strerror(errno));
    for (uint32_t i = 0; i < n && !rc; i++)
        rc = copy_file(i < scen->n_profiles ? scen->profile_roots[i]->file
                                            : scen->files[i - scen->n_profiles].name,
                       in_part(r, profile_name(scen, i, name, sizeof(name)), path, sizeof(path)),
                       err);
    return rc;
}

static void remove_part(struct wf_record *r)
{
    static const char *const all[] = {WF_BUNDLE_HEAD, WF_BUNDLE_SCEN, WF_BUNDLE_SUMMARY,
                                      WF_BUNDLE_LOG};
    const json_t *name;
    char path[PATH_MAX + NAME_LEN];
    size_t i;

    if (!r->made)
        return;
    for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        unlink(in_part(r, all[i], path, sizeof(path)));
    json_array_foreach (json_object_get(r->head, "profiles"), i, name)
        unlink(in_part(r, json_string_value(name), path, sizeof(path)));
    rmdir(in_part(r, "profiles", path, sizeof(path)));
    rmdir(r->part);
    r->made = false;
}

/* --- its head --------------------------------------------------------------------------------- */

static json_t *now_text(void)
{
    time_t t = wf_epoch_s();
    struct tm tm;
    char text[32];

    gmtime_r(&t, &tm);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
    return json_string(text);
}

static json_t *make_head(const struct wf_record_conf *conf, const struct wf_scenario *scen)
{
    json_t *j = json_object(), *sets = json_array(), *profiles = json_array(), *m;
    char name[NAME_LEN];

    for (size_t i = 0; conf->sets && i < conf->sets->n; i++)
        json_array_append_new(sets, json_string(conf->sets->items[i]));
    for (uint32_t i = 0; i < scen->n_profiles + scen->n_files; i++)
        json_array_append_new(profiles, json_string(profile_name(scen, i, name, sizeof(name))));
    m = wf_manifest_json(&(struct wf_manifest){scen, conf->command, NULL, scen->desc.seed});
    json_object_set_new(m, "dpdk", json_string(rte_version()));
    json_object_set_new(j, "schema", json_string(WF_BUNDLE_SCHEMA));
    json_object_set_new(j, "name", json_string(scen->opts.name));
    json_object_set_new(j, "state", json_string("running"));
    json_object_set_new(j, "incomplete_because", json_array());
    json_object_set_new(j, "began", now_text());
    json_object_set_new(j, "version", json_string(wf_version()));
    json_object_set_new(j, "live", json_boolean(conf->live));
    json_object_set_new(j, "seed", wf_json_u64(scen->desc.seed));
    json_object_set_new(j, "set", sets);
    json_object_set_new(j, "profiles", profiles);
    json_object_set_new(j, "time_scale", wf_json_u64(scen->desc.time_scale));
    json_object_set_new(j, "payload", json_string(conf->cut ? "cut" : "whole"));
    json_object_set_new(j, "captures", json_array());
    json_object_set_new(j, "traces", json_array());
    json_object_set_new(j, "manifest", m);
    return j;
}

static int make_part(struct wf_record *r, struct wf_err *err)
{
    if (snprintf(r->part, sizeof(r->part), "%s.part", r->path) >= (int)sizeof(r->part))
        return wf_err_set(err, ENAMETOOLONG, "--record: the path is too long");
    if (!mkdir(r->part, 0755)) {
        r->made = true;
        return 0;
    }
    if (errno == EEXIST)
        return wf_err_set(err, EEXIST,
                          "--record: %s is there already: another run records, or one was killed. "
                          "'weft run %s' repeats what it recorded; else remove it",
                          r->part, r->part);
    return wf_err_set(err, errno, "--record: %s cannot be made: %s", r->part, strerror(errno));
}

int wf_record_begin(struct wf_record *r, const struct wf_record_conf *conf,
                    const struct wf_scenario *scen, struct wf_err *err)
{
    struct stat st;
    int rc;

    *r = (struct wf_record){.path = conf->path, .cut = conf->cut};
    if (!strcmp(scen->path, "stdin"))
        return wf_err_set(err, EINVAL,
                          "--record: a scenario from the standard input cannot be "
                          "put into a bundle; give it as a file");
    if (scen->opts.repeat.seeds > 1)
        return wf_err_set(err, EINVAL, "--record records one run, the scenario asks for %u seeds",
                          scen->opts.repeat.seeds);
    if (!stat(r->path, &st) && !S_ISREG(st.st_mode))
        return wf_err_set(err, EEXIST, "--record: '%s' exists and is no plain file", r->path);
    rc = make_part(r, err);
    if (rc)
        return rc;
    r->head = make_head(conf, scen);
    rc = copy_scenario(r, scen, err);
    if (!rc)
        rc = write_json(r, WF_BUNDLE_HEAD, r->head, err);
    if (rc) {
        remove_part(r);
        json_decref(r->head);
        r->head = NULL;
    }
    return rc;
}

/* --- the run ---------------------------------------------------------------------------------- */

int wf_record_start(struct wf_record *r, struct wf_edges *es, const struct wf_scenario *scen,
                    bool endless, struct wf_err *err)
{
    const char *names[WF_EDGES_MAX];
    char path[PATH_MAX + NAME_LEN], comment[8192];
    const struct wf_manifest m = {
        scen, json_string_value(json_object_get(json_object_get(r->head, "manifest"), "command")),
        NULL, scen->desc.seed};
    struct wf_ingress_log_conf conf = {
        .edges = names, .n_edges = es->n, .epoch_s = wf_epoch_s(), .cut = r->cut};
    int rc;

    for (uint32_t i = 0; i < es->n; i++)
        names[i] = es->edges[i]->node.name;
    conf.comment = wf_manifest_text(&m, comment, sizeof(comment));
    rc = wf_ingress_log_create(&r->log, in_part(r, WF_BUNDLE_LOG, path, sizeof(path)), &conf, err);
    if (rc)
        return rc;
    es->log = wf_ingress_log_sink(r->log);
    json_object_set_new(r->head, "endless", json_boolean(endless));
    return write_json(r, WF_BUNDLE_HEAD, r->head, err);
}

static void incomplete(struct wf_record *r, const char *why)
{
    r->failed = true;
    json_array_append_new(json_object_get(r->head, "incomplete_because"), json_string(why));
}

bool wf_record_take_error(struct wf_record *r, struct wf_err *err)
{
    if (!r->log || !wf_ingress_log_take_error(r->log, err))
        return false;
    incomplete(r, err->msg);
    return true;
}

/* The names of what the run wrote besides. */
static void keep_files(struct wf_record *r, const char *key, const char *const *files)
{
    json_t *list = json_object_get(r->head, key);

    for (size_t i = 0; files && files[i]; i++)
        json_array_append_new(list, json_string(files[i]));
}

void wf_record_end(struct wf_record *r, struct wf_edges *es, const struct wf_report *rep,
                   bool stopped, const json_t *summary)
{
    uint64_t end_ps = wf_fabric_now_ps(rep->f);
    struct wf_err err;

    es->log = NULL;
    if (wf_ingress_log_close(r->log, end_ps, &r->sum, &err))
        incomplete(r, err.msg);
    r->log = NULL;
    if (r->sum.lost) {
        wf_err_set(&err, EIO,
                   "%" PRIu64 " of %" PRIu64 " stimuli are missing: the disk did not "
                   "keep up",
                   r->sum.lost, r->sum.stimuli);
        incomplete(r, err.msg);
    }
    keep_files(r, "captures", rep->files);
    keep_files(r, "traces", rep->traces);
    json_object_set(r->head, "end", json_object_get(summary, "end"));
    json_object_set(r->head, "digest", json_object_get(summary, "digest"));
    json_object_set_new(r->head, "stopped", json_boolean(stopped));
    json_object_set_new(r->head, "end_ps", wf_json_u64(end_ps));
    json_object_set_new(r->head, "stimuli", wf_json_u64(r->sum.stimuli));
    json_object_set_new(r->head, "frames", wf_json_u64(r->sum.frames));
    json_object_set_new(r->head, "lost", wf_json_u64(r->sum.lost));
    if (write_json(r, WF_BUNDLE_SUMMARY, summary, &err))
        incomplete(r, err.msg);
    json_object_set_new(r->head, "state", json_string(r->failed ? "incomplete" : "complete"));
}

/* --- the bundle ------------------------------------------------------------------------------- */

struct files {
    struct wf_bundle_file *list;
    struct {
        char name[PATH_MAX], path[PATH_MAX + NAME_LEN];
    } * texts;
    size_t n, room;
};

static void add_file(struct files *fs, const char *name, const char *path)
{
    struct stat st;

    if (stat(path, &st) || !S_ISREG(st.st_mode))
        return; /* a capture into a pipe, for example */
    WF_ASSERT(fs->n < fs->room);
    snprintf(fs->texts[fs->n].name, sizeof(fs->texts[0].name), "%s", name);
    snprintf(fs->texts[fs->n].path, sizeof(fs->texts[0].path), "%s", path);
    fs->list[fs->n] = (struct wf_bundle_file){fs->texts[fs->n].name, fs->texts[fs->n].path};
    fs->n++;
}

static void add_part(const struct wf_record *r, struct files *fs, const char *name)
{
    char path[PATH_MAX + NAME_LEN];

    add_file(fs, name, in_part(r, name, path, sizeof(path)));
}

/* "captures/00-leaf0.pcapng": two may have the same name, in different folders. */
static void add_outputs(const struct wf_record *r, struct files *fs, const char *key)
{
    const json_t *v;
    size_t i;

    json_array_foreach (json_object_get(r->head, key), i, v) {
        const char *path = json_string_value(v), *slash = strrchr(path, '/');
        char name[PATH_MAX];

        snprintf(name, sizeof(name), "%s/%02zu-%s", key, i, slash ? slash + 1 : path);
        add_file(fs, name, path);
    }
}

/* In the order in which a reader needs them. */
static void list_files(const struct wf_record *r, struct files *fs)
{
    const json_t *v;
    size_t i;

    add_part(r, fs, WF_BUNDLE_HEAD);
    add_part(r, fs, WF_BUNDLE_SCEN);
    json_array_foreach (json_object_get(r->head, "profiles"), i, v)
        add_part(r, fs, json_string_value(v));
    add_part(r, fs, WF_BUNDLE_SUMMARY);
    add_part(r, fs, WF_BUNDLE_LOG);
    add_outputs(r, fs, "captures");
    add_outputs(r, fs, "traces");
}

static int files_room(const struct wf_record *r, struct files *fs)
{
    static const char *const lists[] = {"profiles", "captures", "traces"};

    fs->room = 4; /* the parts of every bundle */
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        fs->room += json_array_size(json_object_get(r->head, lists[i]));
    fs->list = calloc(fs->room, sizeof(*fs->list));
    fs->texts = calloc(fs->room, sizeof(*fs->texts));
    return fs->list && fs->texts ? 0 : -ENOMEM;
}

/* The archive's folder: FILE's name up to its first dot. */
static int pack(const struct wf_record *r, struct wf_err *err)
{
    const char *slash = strrchr(r->path, '/'), *base = slash ? slash + 1 : r->path;
    struct files fs = {0};
    char top[NAME_LEN];
    int rc;

    snprintf(top, sizeof(top), "%.*s", (int)strcspn(base, "."), base);
    if (files_room(r, &fs)) {
        rc = wf_err_set(err, ENOMEM, "no memory for a bundle");
    } else {
        list_files(r, &fs);
        rc = wf_bundle_pack(r->path, top[0] ? top : "bundle", fs.list, fs.n, err);
    }
    free(fs.list);
    free(fs.texts);
    return rc;
}

static void tell(const struct wf_record *r, FILE *say)
{
    const json_t *why;
    size_t i;

    fprintf(say, "recording: %s, %" PRIu64 " stimuli, %" PRIu64 " of them frames%s\n", r->path,
            r->sum.stimuli, r->sum.frames, r->cut ? ", payload cut" : "");
    json_array_foreach (json_object_get(r->head, "incomplete_because"), i, why)
        fprintf(say, "recording: INCOMPLETE, it cannot be repeated to its end: %s\n",
                json_string_value(why));
}

int wf_record_finish(struct wf_record *r, FILE *say, struct wf_err *err)
{
    bool ended = json_object_get(r->head, "end_ps") != NULL;
    int rc = 0;

    if (!r->head)
        return 0;
    wf_ingress_log_close(r->log, 0, NULL, NULL);
    r->log = NULL;
    if (ended)
        rc = write_json(r, WF_BUNDLE_HEAD, r->head, err);
    if (ended && !rc)
        rc = pack(r, err);
    if (rc)
        fprintf(stderr, "weft: its parts are in %s, and 'weft run %s' repeats them\n", r->part,
                r->part);
    if (!rc)
        remove_part(r);
    if (ended && !rc && say)
        tell(r, say);
    json_decref(r->head);
    r->head = NULL;
    return rc;
}
