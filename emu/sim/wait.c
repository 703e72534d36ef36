/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/wait.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "sim/clock.h"

enum { YIELD_NS = 2000 };

int wf_wait_init(struct wf_wait *w)
{
    memset(w, 0, sizeof(*w));
    w->spin_ns = 1000;
    w->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (w->wake_fd < 0)
        return -errno;
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    return wf_wait_add_fd(w, w->wake_fd);
}

void wf_wait_fini(struct wf_wait *w)
{
    if (w->wake_fd >= 0)
        close(w->wake_fd);
    w->wake_fd = -1;
}

int wf_wait_add_fd(struct wf_wait *w, int fd)
{
    if (w->n_fds == WF_WAIT_FDS)
        return -ENOSPC;
    w->fds[w->n_fds++] = (struct pollfd){.fd = fd, .events = POLLIN};
    return 0;
}

static void sleep_until(struct wf_wait *w, uint64_t now_ns, uint64_t until_ns)
{
    uint64_t left = until_ns == UINT64_MAX ? 1000000000u : until_ns - now_ns;
    struct timespec ts = {(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
    uint64_t drained;

    atomic_store(&w->asleep, true);
    (void)ppoll(w->fds, w->n_fds, &ts, NULL);
    atomic_store(&w->asleep, false);
    if (w->fds[0].revents & POLLIN && read(w->wake_fd, &drained, sizeof(drained)) < 0 &&
        errno != EAGAIN)
        w->fds[0].events = 0; /* a broken eventfd must not make this a busy loop */
}

void wf_wait_until(struct wf_wait *w, uint64_t until_ns, bool worked)
{
    uint64_t start = wf_wall_ns(), now = start;

    if (worked) {
        w->idle_polls = 0;
        return;
    }
    /* only right after work is more work likely: spin then, and never again until there was some */
    if (!w->idle_polls++)
        while (now < until_ns && now - start < w->spin_ns)
            now = wf_wall_ns();
    if (now + YIELD_NS >= until_ns) {
        if (now < until_ns)
            sched_yield();
        return;
    }
    sleep_until(w, now, until_ns);
}

void wf_wait_wake(struct wf_wait *w)
{
    uint64_t one = 1;

    if (atomic_load(&w->asleep) && write(w->wake_fd, &one, sizeof(one)) < 0)
        return; /* EAGAIN: it is awake already */
}
