/* SPDX-License-Identifier: BSD-3-Clause */
/* Any frame as text: one printable line that ends within its buffer. First byte: bytes cut off. */
#include <string.h>

#include "wire/print.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[1024], small[40];
    uint32_t len, cap;
    size_t n;

    if (!size)
        return 0;
    len = (uint32_t)size - 1;
    cap = data[0] < len ? len - data[0] : 0;
    wf_frame_text(text, sizeof(text), data + 1, cap, len);
    n = strlen(text);
    FUZZ_CHECK(n > 0 && n < sizeof(text) - 1);
    for (size_t i = 0; i < n; i++)
        FUZZ_CHECK(text[i] >= ' ' && text[i] <= '~');
    wf_frame_text(small, sizeof(small), data + 1, cap, len);
    FUZZ_CHECK(!strncmp(small, text, strlen(small)));
    return 0;
}
