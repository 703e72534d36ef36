/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ThreadSanitizer can't see: memory that one thread hands to another through a library that
 * is not built with it, such as DPDK's pools. In any other build these are nothing.
 */
#ifndef WEFT_BASE_TSAN_H
#define WEFT_BASE_TSAN_H

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WF_TSAN 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define WF_TSAN 1
#endif

#ifdef WF_TSAN
void __tsan_acquire(void *addr);
void __tsan_release(void *addr);
#define WF_HANDED_OUT(through) __tsan_release(through)
#define WF_HANDED_IN(through)  __tsan_acquire(through)
#else
#define WF_HANDED_OUT(through) ((void)0)
#define WF_HANDED_IN(through)  ((void)0)
#endif

#endif
