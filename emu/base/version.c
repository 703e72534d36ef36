/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/version.h"

#include <base/weft_git.h>

const char *wf_version(void)
{
    return WEFT_GIT[0] ? WEFT_VERSION "+" WEFT_GIT : WEFT_VERSION;
}
