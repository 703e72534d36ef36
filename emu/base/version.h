/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which weft this is: "0.1.0+9d9150d", with "-dirty" behind when the build's tree had changes;
 * "0.1.0" when it was built from a tarball.
 */
#ifndef WEFT_BASE_VERSION_H
#define WEFT_BASE_VERSION_H

const char *wf_version(void);

#endif
