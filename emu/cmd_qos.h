/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of weft qos. */
#ifndef WEFT_CMD_QOS_H
#define WEFT_CMD_QOS_H

/* weft qos mlnx: argv[0] is the word mlnx. The exit code. */
int wf_cmd_qos_mlnx(int argc, char **argv);

#endif
