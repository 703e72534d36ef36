/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/cc_guard.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_BROKEN = 4 };

static _Thread_local const char *path_of_thread, *hook_of_thread;

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

static void say(const char *text)
{
    ssize_t n = write(STDERR_FILENO, text, strlen(text));

    (void)n;
}

static void on_fault(int sig)
{
    static const char *const names[] = {"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT"};

    if (!path_of_thread) { /* not a control's doing */
        signal(sig, SIG_DFL);
        raise(sig);
        return;
    }
    say("weft: control '");
    say(path_of_thread);
    say("' crashed in its hook ");
    say(hook_of_thread);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        if (signals[i] == sig) {
            say(" (");
            say(names[i]);
            say(")\n");
        }
    _exit(EXIT_BROKEN);
}

void wf_cc_guard(void)
{
    struct sigaction sa = {.sa_handler = on_fault};

    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        sigaction(signals[i], &sa, NULL);
}

void wf_cc_enter(const char *path, const char *hook)
{
    hook_of_thread = hook;
    path_of_thread = path;
}

void wf_cc_leave(void)
{
    path_of_thread = NULL;
}
