/* SPDX-License-Identifier: BSD-3-Clause */
/* A target with planted bugs: test_driver.py shows on it that the driver finds and reports them. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    volatile uint8_t *nowhere = NULL;

    if (size < 3 || data[0] != 'w' || data[1] != 'f')
        return 0;
    if (data[2] == 'h')
        for (;;)
            ;
    if (data[2] == 's')
        *nowhere = 1;
    FUZZ_CHECK(data[2] < 0x80);
    return 0;
}
