/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/version.h"

#include <string.h>

#include <base/weft_build.h>
#include <base/weft_git.h>

const char *wf_version(void)
{
    return strcmp(WEFT_GIT, "none") ? WEFT_VERSION "+" WEFT_GIT : WEFT_VERSION;
}
