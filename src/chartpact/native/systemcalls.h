/* The system calls that a sandboxed run may make, and the seccomp filter that lets no others
   through. `harden.c` includes it once. */

/* Everything a run may ask of the kernel. */
#define CALLS(CALL)                                                                               \
    CALL(mmap, 9, 222)                                                                            \
    CALL(mprotect, 10, 226)                                                                       \
    CALL(munmap, 11, 215)                                                                         \
    CALL(mremap, 25, 216)                                                                         \
    CALL(madvise, 28, 233)                                                                        \
    CALL(brk, 12, 214)                                                                            \
    CALL(futex, 202, 98)                                                                          \
    CALL(rt_sigreturn, 15, 139)                                                                   \
    CALL(exit, 60, 93)                                                                            \
    CALL(exit_group, 231, 94)                                                                     \
    CALL(sched_yield, 24, 124)                                                                    \
    CALL(clock_gettime, 228, 113)                                                                 \
    CALL(getrandom, 318, 278)

#if defined(__x86_64__)
#define AGREES(name, x86_64, aarch64) _Static_assert(__NR_##name == x86_64, #name);
CALLS(AGREES)
#elif defined(__aarch64__)
#define AGREES(name, x86_64, aarch64) _Static_assert(__NR_##name == aarch64, #name);
CALLS(AGREES)
#endif

static const struct {
    const char *name;
    uint32_t x86_64, aarch64;
} calls[] = {
#define ROW(name, x86_64, aarch64) {#name, x86_64, aarch64},
    CALLS(ROW)
#undef ROW
};
#define CALL_COUNT (sizeof calls / sizeof *calls)
#define FILTER_MAX (48 + 2 * CALL_COUNT)

#define X32_BIT 0x40000000u
/* Numbers from here on name the clocks of other processes, whose work a run could watch by them. */
#define CLOCKS 16
/* ENOSYS rather than EPERM: libc and CPython try optional calls and fall back on ENOSYS. */
#define REFUSE (SECCOMP_RET_ERRNO | ENOSYS)
#define FIELD(member) ((uint32_t)offsetof(struct seccomp_data, member))
/* The low half of an argument; every flag that is looked at lives there (both are little-endian). */
#define ARGUMENT(n) (FIELD(args) + 8 * (n))

static size_t build_filter(struct sock_filter *program, int aarch64)
{
    struct sock_filter *p = program;
#define LOAD(at) *p++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at)
#define RETURN(what) *p++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, what)
#define KEEP(bits) *p++ = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits)
#define SKIP_IF(k, n) *p++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k, n, 0)
#define SKIP_UNLESS(test, k, n) *p++ = (struct sock_filter)BPF_JUMP(BPF_JMP | test | BPF_K, k, 0, n)
    LOAD(FIELD(arch));
    SKIP_IF(aarch64 ? AUDIT_ARCH_AARCH64 : AUDIT_ARCH_X86_64, 1);
    RETURN(SECCOMP_RET_KILL_PROCESS);
    LOAD(FIELD(nr));
    if (!aarch64) {
        SKIP_UNLESS(BPF_JGE, X32_BIT, 1);
        RETURN(SECCOMP_RET_KILL_PROCESS);
    }
    for (size_t i = 0; i < CALL_COUNT; i++) {
        uint32_t number = aarch64 ? calls[i].aarch64 : calls[i].x86_64;
        if (strcmp(calls[i].name, "mmap") == 0) { /* only fresh memory, never code */
            SKIP_UNLESS(BPF_JEQ, number, 12);
            LOAD(ARGUMENT(2));
            SKIP_UNLESS(BPF_JSET, PROT_EXEC, 1);
            RETURN(REFUSE);
            LOAD(ARGUMENT(0)); /* where the kernel likes: pages far apart cost tables of pages, */
            SKIP_UNLESS(BPF_JEQ, 0, 7); /* which no limit counts */
            LOAD(ARGUMENT(0) + 4);
            SKIP_UNLESS(BPF_JEQ, 0, 5);
            LOAD(ARGUMENT(3));
            SKIP_UNLESS(BPF_JSET, MAP_HUGETLB, 1); /* pages that the operator set aside */
            RETURN(REFUSE);
            SKIP_UNLESS(BPF_JSET, MAP_ANONYMOUS, 1);
            RETURN(SECCOMP_RET_ALLOW);
            LOAD(FIELD(nr));
        } else if (strcmp(calls[i].name, "mremap") == 0) { /* nor moved to a place of its choice */
            SKIP_UNLESS(BPF_JEQ, number, 4);
            LOAD(ARGUMENT(3));
            SKIP_UNLESS(BPF_JSET, ~(uint32_t)MREMAP_MAYMOVE, 1);
            RETURN(REFUSE);
            RETURN(SECCOMP_RET_ALLOW);
        } else if (strcmp(calls[i].name, "mprotect") == 0) {
            SKIP_UNLESS(BPF_JEQ, number, 4);
            LOAD(ARGUMENT(2));
            SKIP_UNLESS(BPF_JSET, PROT_EXEC, 1);
            RETURN(REFUSE);
            RETURN(SECCOMP_RET_ALLOW);
        } else if (strcmp(calls[i].name, "clock_gettime") == 0) {
            SKIP_UNLESS(BPF_JEQ, number, 4);
            LOAD(ARGUMENT(0));
            SKIP_UNLESS(BPF_JGE, CLOCKS, 1);
            RETURN(REFUSE);
            RETURN(SECCOMP_RET_ALLOW);
        } else if (strcmp(calls[i].name, "futex") == 0) { /* plain locks, which is all libc asks */
            SKIP_UNLESS(BPF_JEQ, number, 8);
            LOAD(ARGUMENT(1));
            KEEP((uint32_t)FUTEX_CMD_MASK);
            SKIP_IF(FUTEX_WAIT, 3);
            SKIP_IF(FUTEX_WAKE, 2);
            SKIP_IF(FUTEX_WAIT_BITSET, 1);
            SKIP_UNLESS(BPF_JEQ, FUTEX_WAKE_BITSET, 1);
            RETURN(SECCOMP_RET_ALLOW);
            RETURN(REFUSE);
        } else {
            SKIP_UNLESS(BPF_JEQ, number, 1);
            RETURN(SECCOMP_RET_ALLOW);
        }
    }
    RETURN(REFUSE);
#undef LOAD
#undef RETURN
#undef KEEP
#undef SKIP_IF
#undef SKIP_UNLESS
    return (size_t)(p - program);
}
