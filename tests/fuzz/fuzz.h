/* SPDX-License-Identifier: BSD-3-Clause */
/* What a fuzz target is: one function over bytes, which the driver or libFuzzer calls. */
#ifndef WEFT_TESTS_FUZZ_H
#define WEFT_TESTS_FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Returns 0. Inputs are copied into memory of exactly their size, so that ASan sees a step too far;
 * data is never NULL, size may be 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A property that holds for every input. */
#define FUZZ_CHECK(expr)                                                                           \
    do {                                                                                           \
        if (!(expr)) {                                                                             \
            fprintf(stderr, "fuzz: %s:%d: '%s' does not hold\n", __FILE__, __LINE__, #expr);       \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
