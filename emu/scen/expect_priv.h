/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of expectations, shared by expect_*.c. */
#ifndef WEFT_SCEN_EXPECT_PRIV_H
#define WEFT_SCEN_EXPECT_PRIV_H

#include "scen/expect.h"

/* What a value counts; LITERAL is a number without unit, which goes with counts and with nothing
 * else but zero; MIXED is a product or quotient, which is not checked. */
enum wf_dim { WF_DIM_LITERAL, WF_DIM_COUNT, WF_DIM_BYTES, WF_DIM_TIME, WF_DIM_MIXED };

enum wf_term_op { WF_TERM_NUM, WF_TERM_REF, WF_TERM_ADD, WF_TERM_SUB, WF_TERM_MUL, WF_TERM_DIV };
enum wf_agg { WF_AGG_NONE, WF_AGG_SUM, WF_AGG_MIN, WF_AGG_MAX, WF_AGG_MEAN, WF_AGG_PERCENTILE };
enum wf_cmp {
    WF_CMP_EQ,
    WF_CMP_NE,
    WF_CMP_LT,
    WF_CMP_LE,
    WF_CMP_GT,
    WF_CMP_GE,
    WF_CMP_COMPLETES, /* left is a reference to flows' completion */
    WF_CMP_BEFORE,    /* both are: start + completion compared */
};
enum wf_quant { WF_QUANT_DEFAULT, WF_QUANT_ALL, WF_QUANT_ANY };

struct wf_ref_hit {
    const char *name;
    const uint64_t *value;
    const uint64_t *start; /* of a flow: its start_ps */
};

struct wf_term {
    enum wf_term_op op;
    enum wf_dim dim;
    int off; /* in the text, for messages */
    long double num;
    struct wf_term *left, *right;
    /* reference */
    enum wf_agg agg;
    double percentile;
    const char *pattern, *counter;
    char kind;       /* 'C', 'G' or 'M' */
    bool completion; /* 0 means not yet */
    struct wf_ref_hit *hits;
    size_t n_hits, cap_hits;
};

struct wf_expect_cond {
    enum wf_cmp cmp;
    enum wf_quant quant;
    struct wf_term *left, *right;
    long double tolerance; /* absolute, or a share of the right side */
    bool relative, has_tolerance;
    size_t spread;                 /* objects to go through, 1 when there is nothing to */
    const struct wf_term *spreads; /* the reference that is gone through, NULL: none */
    const char *text;
};

/* The parser's state and the words and terms that it is made of (expect_term.c). Functions that
 * return a pointer give NULL, those that return int -errno, with *err and the place set. */
enum { WF_EXP_WORD_MAX = 160 };
struct wf_exp_parser {
    struct wf_arena *arena;
    const char *text, *p;
    struct wf_err *err;
    int bad_off, depth;
    enum wf_quant quant;
    const struct wf_term *spread; /* the reference that stands for several objects */
};
void *wf_exp_bad(struct wf_exp_parser *q, const char *at); /* remember the place of an error */
void wf_exp_blanks(struct wf_exp_parser *q);
size_t wf_exp_word_len(const char *p);
bool wf_exp_word_is(const char *p, size_t n, const char *word);
bool wf_exp_eat(struct wf_exp_parser *q, const char *op);
bool wf_exp_eat_word(struct wf_exp_parser *q, const char *word);
int wf_exp_number(struct wf_exp_parser *q, long double *v, enum wf_dim *dim);
char *wf_exp_name(struct wf_exp_parser *q);
struct wf_term *wf_exp_new_term(struct wf_exp_parser *q, enum wf_term_op op, const char *at);
/* The dimension of a + b, or of a compared with b. */
int wf_exp_common_dim(struct wf_exp_parser *q, const struct wf_term *a, const struct wf_term *b);
struct wf_term *wf_exp_sum(struct wf_exp_parser *q);

/* A condition from its text; NULL and *err with *off, the place in the text, when it is none. */
struct wf_expect_cond *wf_expect_cond_parse(struct wf_arena *a, const char *text, int *off,
                                            struct wf_err *err);
bool wf_expect_cond_timing(const struct wf_expect_cond *c);
bool wf_expect_cond_level(const struct wf_expect_cond *c);

/* What a comparison came to: unknown when a completion that it needs isn't there yet. */
enum wf_truth { WF_FALSE, WF_TRUE, WF_UNKNOWN };
struct wf_finding {
    enum wf_truth truth;
    size_t index; /* of the object that decided */
    long double left, right;
};
/* final: the run is over, what hasn't completed never will. want_any: the condition is looked for
 * and not demanded (never), so names with wildcards mean any. */
struct wf_finding wf_expect_cond_eval(const struct wf_expect_cond *c, bool final, bool want_any);

/* Fill found, expected and place of a failed expectation from a finding. */
void wf_expect_describe(struct wf_arena *a, struct wf_expect *e, const struct wf_finding *f);
long double wf_percentile(long double *v, size_t n, double p);
const char *wf_dim_text(enum wf_dim dim, long double v, char *buf, size_t len);

#endif
