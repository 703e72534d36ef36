/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fuzz driver, one for every target: takes inputs from a corpus, changes them by a random
 * stream, and calls the target. The same seed gives the same inputs in the same order, on every
 * machine. Built with gcc or clang, with or without sanitizers; for coverage-guided fuzzing the
 * targets link with clang's libFuzzer instead of this file.
 * A crash, a failed check or a hang writes the input to a file and prints how to repeat it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/prng.h"

#include "fuzz.h"

#define INPUT_MAX   16384 /* bytes of an input */
#define CORPUS_MAX  4096  /* files */
#define CHECK_EVERY 64    /* runs between looks at the clock */

struct input {
    uint8_t *bytes;
    size_t len;
};

struct driver {
    const char *program, *out_dir;
    struct input corpus[CORPUS_MAX];
    size_t n_corpus, max_len;
    struct wf_prng prng;
    uint64_t seed, runs, seconds;
    unsigned hang_s; /* an input may take this long */
    char crash_file[512];
};

/* The input that runs now, for the signal handler. */
static const uint8_t *current;
static size_t current_len;
static struct driver *the_driver;
static volatile sig_atomic_t reported;

/* Sanitizers call this before they end the process; absent without them. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));
/* And they ask for these options: gcc's UBSan knows no such callback, so that it has to abort. */
const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

const char *__asan_default_options(void)
{
    return "abort_on_error=1";
}

const char *__ubsan_default_options(void)
{
    return "halt_on_error=1:abort_on_error=1:print_stacktrace=1";
}

static void put(const char *s)
{
    ssize_t n = write(STDERR_FILENO, s, strlen(s));

    (void)n;
}

/* Only what is safe in a signal handler. */
static void report(void)
{
    struct driver *d = the_driver;
    int fd;

    if (reported || !current)
        return;
    reported = 1;
    fd = open(d->crash_file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || write(fd, current, current_len) != (ssize_t)current_len) {
        put("fuzz: can't write the input to ");
        put(d->crash_file);
        put("\n");
        return;
    }
    close(fd);
    put("fuzz: the input is in ");
    put(d->crash_file);
    put("\nfuzz: repeat with: ");
    put(d->program);
    put(" ");
    put(d->crash_file);
    put("\nfuzz: when it is mended, move it to the target's corpus\n");
}

static void on_signal(int sig)
{
    if (sig == SIGALRM)
        put("fuzz: an input takes too long\n");
    report();
    signal(sig, SIG_DFL);
    raise(sig);
}

static void catch_signals(struct driver *d)
{
    static const int sigs[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};

    the_driver = d;
    for (size_t i = 0; i < sizeof(sigs) / sizeof(sigs[0]); i++)
        signal(sigs[i], on_signal);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(report);
}

/* Runs one input from memory of exactly its size. */
static void run_one(const uint8_t *bytes, size_t len)
{
    uint8_t *exact = malloc(len ? len : 1);

    if (!exact)
        abort();
    memcpy(exact, bytes, len);
    current = bytes;
    current_len = len;
    LLVMFuzzerTestOneInput(exact, len);
    current = NULL;
    free(exact);
}

static int add_file(struct driver *d, const char *path)
{
    struct input *in = &d->corpus[d->n_corpus];
    FILE *f = fopen(path, "rb");

    if (!f) {
        fprintf(stderr, "fuzz: %s: %s\n", path, strerror(errno));
        return -1;
    }
    in->bytes = malloc(INPUT_MAX);
    if (!in->bytes || d->n_corpus == CORPUS_MAX) {
        fclose(f);
        fprintf(stderr, "fuzz: %s: too many inputs\n", path);
        return -1;
    }
    in->len = fread(in->bytes, 1, INPUT_MAX, f);
    fclose(f);
    d->n_corpus++;
    return 0;
}

static int not_hidden(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

/* In the order of names, so that a seed means the same everywhere. */
static int add_dir(struct driver *d, const char *dir)
{
    struct dirent **names;
    int n = scandir(dir, &names, not_hidden, alphasort), err = 0;

    if (n < 0) {
        fprintf(stderr, "fuzz: %s: %s\n", dir, strerror(errno));
        return -1;
    }
    for (int i = 0; i < n; i++) {
        char path[4096];

        snprintf(path, sizeof(path), "%s/%s", dir, names[i]->d_name);
        if (!err)
            err = add_file(d, path);
        free(names[i]);
    }
    free(names);
    return err;
}

static uint64_t below(struct driver *d, uint64_t n)
{
    return n ? wf_prng_below(&d->prng, n) : 0;
}

/* Numbers that lengths, types and offsets like to break at. */
static uint32_t edge_number(struct driver *d)
{
    static const uint32_t numbers[] = {
        0,      1,      2,      3,      4,       7,          8,          15,        16,   20,
        28,     31,     32,     40,     59,      60,         63,         64,        127,  128,
        255,    256,    0x0800, 0x0806, 0x1500,  0x7fff,     0x8000,     0x8100,    4791, 0x86dd,
        0x88a8, 0x8915, 0xfffe, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff};

    return numbers[below(d, sizeof(numbers) / sizeof(numbers[0]))];
}

static void change_bytes(struct driver *d, uint8_t *b, size_t len)
{
    size_t at = below(d, len);
    uint32_t v = edge_number(d);

    switch (below(d, 6)) {
    case 0:
        b[at] ^= (uint8_t)(1u << below(d, 8));
        return;
    case 1:
        b[at] = (uint8_t)wf_prng_u64(&d->prng);
        return;
    case 2:
        b[at] = (uint8_t)v;
        return;
    case 3:
        b[at] = (uint8_t)(b[at] + below(d, 33) - 16);
        return;
    case 4: /* a number of two bytes, big or little-endian */
        if (len - at >= 2) {
            bool le = below(d, 2);

            b[at + le] = (uint8_t)(v >> 8);
            b[at + !le] = (uint8_t)v;
        }
        return;
    default: /* of four */
        if (len - at >= 4) {
            bool le = below(d, 2);

            for (size_t i = 0; i < 4; i++)
                b[at + (le ? i : 3 - i)] = (uint8_t)(v >> 8 * i);
        }
        return;
    }
}

/* Changes the length: cut, remove, insert, repeat, or the end of another input. */
static size_t change_length(struct driver *d, uint8_t *b, size_t len)
{
    size_t at = below(d, len + 1), n = 1 + below(d, below(d, 4) ? 8 : 256);
    const struct input *other;

    switch (below(d, 5)) {
    case 0:
        return at;
    case 1:
        n = n < len - at ? n : len - at;
        memmove(b + at, b + at + n, len - at - n);
        return len - n;
    case 2:
        n = n < d->max_len - len ? n : d->max_len - len;
        memmove(b + at + n, b + at, len - at);
        for (size_t i = 0; i < n; i++)
            b[at + i] = (uint8_t)wf_prng_u64(&d->prng);
        return len + n;
    case 3:
        n = n < len - at ? n : len - at;
        n = n < d->max_len - len ? n : d->max_len - len;
        memmove(b + at + n, b + at, len - at);
        return len + n;
    default:
        other = &d->corpus[below(d, d->n_corpus)];
        n = below(d, other->len + 1);
        n = n < d->max_len - at ? n : d->max_len - at;
        memcpy(b + at, other->bytes + other->len - n, n);
        return at + n;
    }
}

static size_t make_input(struct driver *d, uint8_t *b)
{
    const struct input *from = &d->corpus[below(d, d->n_corpus)];
    size_t len = from->len < d->max_len ? from->len : d->max_len;

    memcpy(b, from->bytes, len);
    for (uint64_t n = 1 + below(d, below(d, 2) ? 3 : 12); n; n--) {
        if (len && below(d, 4))
            change_bytes(d, b, len);
        else
            len = change_length(d, b, len);
    }
    return len;
}

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void fuzz(struct driver *d)
{
    static uint8_t b[INPUT_MAX];
    double end = now_s() + (double)d->seconds;
    uint64_t n = 0;

    for (size_t i = 0; i < d->n_corpus; i++)
        run_one(d->corpus[i].bytes, d->corpus[i].len);
    for (; d->runs ? n < d->runs : n % CHECK_EVERY || now_s() < end; n++) {
        if (n % CHECK_EVERY == 0)
            alarm(d->hang_s);
        run_one(b, make_input(d, b));
    }
    alarm(0);
    printf("fuzz: seed %llu: %zu inputs of the corpus and %llu changed ones\n",
           (unsigned long long)d->seed, d->n_corpus, (unsigned long long)n);
}

static int usage(const char *program)
{
    fprintf(stderr,
            "usage: %s [--hang SECONDS] [--out DIR] FILE...   runs these inputs once\n"
            "       %s --corpus DIR [--seconds N | --runs N] [--seed N] [--hang N] [--out DIR]\n",
            program, program);
    return 2;
}

static int options(struct driver *d, int argc, char **argv, const char **corpus)
{
    int i = 1;

    for (; i + 1 < argc && !strncmp(argv[i], "--", 2); i += 2) {
        if (!strcmp(argv[i], "--corpus"))
            *corpus = argv[i + 1];
        else if (!strcmp(argv[i], "--out"))
            d->out_dir = argv[i + 1];
        else if (!strcmp(argv[i], "--seconds"))
            d->seconds = strtoull(argv[i + 1], NULL, 10);
        else if (!strcmp(argv[i], "--runs"))
            d->runs = strtoull(argv[i + 1], NULL, 10);
        else if (!strcmp(argv[i], "--seed"))
            d->seed = strtoull(argv[i + 1], NULL, 10);
        else if (!strcmp(argv[i], "--hang"))
            d->hang_s = (unsigned)strtoul(argv[i + 1], NULL, 10);
        else
            return -1;
    }
    for (; i < argc; i++)
        if (argv[i][0] == '-' || add_file(d, argv[i]))
            return -1;
    return *corpus || d->n_corpus ? 0 : -1;
}

int main(int argc, char **argv)
{
    static struct driver d = {
        .out_dir = ".", .seed = 1, .seconds = 10, .hang_s = 20, .max_len = 4096};
    const char *corpus = NULL, *base = strrchr(argv[0], '/');

    d.program = argv[0];
    if (options(&d, argc, argv, &corpus))
        return usage(argv[0]);
    snprintf(d.crash_file, sizeof(d.crash_file), "%s/crash-%s-%ld", d.out_dir,
             base ? base + 1 : argv[0], (long)getpid());
    catch_signals(&d);
    if (!corpus) {
        alarm(d.hang_s);
        for (size_t i = 0; i < d.n_corpus; i++)
            run_one(d.corpus[i].bytes, d.corpus[i].len);
        printf("fuzz: %zu inputs, nothing found\n", d.n_corpus);
        return 0;
    }
    if (add_dir(&d, corpus))
        return 2;
    if (!d.n_corpus) {
        fprintf(stderr, "fuzz: %s: no input in it\n", corpus);
        return 2;
    }
    wf_prng_init(&d.prng, d.seed, "fuzz");
    fuzz(&d);
    return 0;
}
