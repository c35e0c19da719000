/* Takes a freshly forked child from "may do anything its parent may" to "may only compute".

   `sandbox_enter` is the whole way, in one call and in the only order that works: a later step
   takes away what an earlier one needs. It returns the mappings through which a run sees its job
   and leaves its answer, or it does not return: a step that fails ends the process with signal
   40 + its number, so there is no way to run half hardened.

   Exercised on x86-64. The aarch64 filter is the same program over the other column of CALLS; its
   numbers are checked against the kernel's headers, but it has not been run on that hardware. */
#ifdef __linux__
#define _GNU_SOURCE
#endif
#include "module.h"

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Newer than many installed headers; these numbers are the same on every architecture. */
#define CALL_CLOSE_RANGE 436
#define CALL_LANDLOCK_CREATE_RULESET 444
#define CALL_LANDLOCK_RESTRICT_SELF 446

#if defined(__x86_64__)
#define HERE "x86_64"
#elif defined(__aarch64__)
#define HERE "aarch64"
#else
#define HERE ""
#endif

#include "systemcalls.h"

static PyObject *sandbox_filter(PyObject *self, PyObject *args)
{
    (void)self;
    const char *machine = HERE;
    if (!PyArg_ParseTuple(args, "|s", &machine)) return NULL;
    if (strcmp(machine, "x86_64") != 0 && strcmp(machine, "aarch64") != 0) {
        PyErr_Format(PyExc_ValueError, "there is no filter for '%s'", machine);
        return NULL;
    }
    struct sock_filter program[FILTER_MAX];
    size_t length = build_filter(program, strcmp(machine, "aarch64") == 0);
    return PyBytes_FromStringAndSize((const char *)program, length * sizeof *program);
}

static PyObject *sandbox_calls(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    PyObject *rows = PyList_New(0);
    for (size_t i = 0; rows != NULL && i < CALL_COUNT; i++) {
        PyObject *row = Py_BuildValue("(sII)", calls[i].name, calls[i].x86_64, calls[i].aarch64);
        if (row == NULL || PyList_Append(rows, row) < 0) Py_CLEAR(rows);
        Py_XDECREF(row);
    }
    return rows;
}

/* --------------------------------------------------------------------------------- Landlock */

struct ruleset { /* as of ABI 6; older kernels accept it as long as what they do not know is 0 */
    uint64_t files, network, scopes;
};

static int create_ruleset(const struct ruleset *rights)
{
    return (int)syscall(CALL_LANDLOCK_CREATE_RULESET, rights, sizeof *rights, 0);
}

/* Asks the kernel bit by bit, so that a right invented after this was written is denied too. */
static uint64_t rights_known(size_t member)
{
    uint64_t known = 0;
    for (int bit = 0; bit < 64; bit++) {
        struct ruleset one = {0, 0, 0};
        uint64_t *field = (uint64_t *)((char *)&one + member);
        *field = UINT64_C(1) << bit;
        int fd = create_ruleset(&one);
        if (fd >= 0) {
            known |= *field;
            close(fd);
        }
    }
    return known;
}

static PyObject *sandbox_landlock(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    long abi = syscall(CALL_LANDLOCK_CREATE_RULESET, NULL, (size_t)0, 1);
    struct ruleset all = {0, 0, 0};
    int fd = -1;
    if (abi > 0) {
        all.files = rights_known(offsetof(struct ruleset, files));
        all.network = rights_known(offsetof(struct ruleset, network));
        all.scopes = rights_known(offsetof(struct ruleset, scopes));
        fd = create_ruleset(&all);
    }
    return Py_BuildValue("(iiKKK)", fd, fd < 0 ? 0 : (int)abi, (unsigned long long)all.files,
                         (unsigned long long)all.network, (unsigned long long)all.scopes);
}

/* -------------------------------------------------------------------------------- the child */

enum { LIMITS = 1, PRIVILEGES = 2, LANDLOCK = 4, SECCOMP = 8, TIMER = 16 };

#define REFUSAL 40 /* of the real-time signals, which end a process that does not expect them */

enum step { MAPS = 1, DESCRIPTORS, DROP, RLIMITS, PARENT, ALARM, NO_NEW_PRIVS, RULESET, FILTER };

/* By a signal that no fault raises: once hardened, a process cannot send itself one, so no run can
   pretend that its hardening failed. */
static void must(int succeeded, enum step step)
{
    if (succeeded) return;
    kill(getpid(), REFUSAL + (int)step);
    _exit(EXIT_FAILURE);
}

/* The address space of this process, whose /proc statm this is. */
static uint64_t address_space(int statm)
{
    char text[64] = "";
    must(pread(statm, text, sizeof text - 1, 0) > 0, MAPS);
    uint64_t pages = strtoull(text, NULL, 10);
    must(pages > 0, MAPS);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void close_from(unsigned int first)
{
    if (syscall(CALL_CLOSE_RANGE, first, ~0u, 0u) == 0) return;
    struct rlimit files; /* the zygote keeps this limit small */
    must(getrlimit(RLIMIT_NOFILE, &files) == 0, DESCRIPTORS);
    for (rlim_t fd = first; fd < files.rlim_cur; fd++) close((int)fd);
}

/* Dies with the zygote, which may be gone by now. */
static void follow(int zygote)
{
    must(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0, PARENT);
    must(getppid() == zygote, PARENT);
}

static void keep_only(int ruleset)
{
    if (ruleset >= 0)
        must(dup2(ruleset, 0) == 0, DESCRIPTORS);
    else
        close(0);
    close_from(1);
}

static void drop_privileges(unsigned int id)
{
    if (id != 0) {
        must(syscall(SYS_setgroups, (size_t)0, NULL) == 0, DROP);
        must(syscall(SYS_setresgid, id, id, id) == 0, DROP);
        must(syscall(SYS_setresuid, id, id, id) == 0, DROP);
    }
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct none[2];
    memset(none, 0, sizeof none);
    must(syscall(SYS_capset, &header, none) == 0, DROP);
}

static void limit(int resource, uint64_t most)
{
    struct rlimit both = {(rlim_t)most, (rlim_t)most};
    must(setrlimit(resource, &both) == 0, RLIMITS);
}

static void set_limits(uint64_t memory, unsigned int cpu_seconds)
{
    static const int nothing[] = {RLIMIT_CORE,   RLIMIT_NPROC,   RLIMIT_FSIZE,
                                  RLIMIT_NOFILE, RLIMIT_MEMLOCK, RLIMIT_MSGQUEUE};
    limit(RLIMIT_AS, memory);
    limit(RLIMIT_CPU, cpu_seconds);
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++) limit(nothing[i], 0);
}

/* SIGKILL, because it also ends a stopped process; the filter leaves no call to disarm it. */
static void set_alarm(clockid_t clock, unsigned int milliseconds)
{
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGKILL;
    int timer;
    must(syscall(SYS_timer_create, clock, &event, &timer) == 0, ALARM);
    struct itimerspec when;
    memset(&when, 0, sizeof when);
    when.it_value.tv_sec = milliseconds / 1000;
    when.it_value.tv_nsec = (long)(milliseconds % 1000) * 1000000;
    must(syscall(SYS_timer_settime, timer, 0, &when, NULL) == 0, ALARM);
}

static void install_filter(void)
{
    struct sock_filter program[FILTER_MAX];
    struct sock_fprog filter = {
        (unsigned short)build_filter(program, strcmp(HERE, "aarch64") == 0), program};
    must(*HERE != '\0', FILTER);
    must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0, FILTER);
    must(syscall(SYS_getppid) == -1 && errno == ENOSYS, FILTER);
}

/* An answer begins with a word that the kernel marks when the child ends, however it ends, and
   wakes whoever waits for it. By then the child runs no more code of its own, while taking its
   memory apart can last longer than the run did. Where this is not to be had, the end is only
   heard of later, from the zygote. */
#define NOTICE_SIZE 8

static struct {
    struct robust_list_head head;
    struct robust_list entry;
    uint32_t *word;
} notice;

static void give_notice(void *word)
{
    notice.word = word;
    *notice.word = FUTEX_WAITERS | (uint32_t)syscall(SYS_gettid);
    notice.entry.next = &notice.head.list;
    notice.head.list.next = &notice.entry;
    notice.head.futex_offset = (char *)word - (char *)&notice.entry;
    notice.head.list_op_pending = NULL;
    syscall(SYS_set_robust_list, &notice.head, sizeof notice.head);
}

/* The child's own word that its answer is complete, just before it ends: whoever waits goes on at
   once, while the kernel, once it is at ending a process, may let nobody else on that processor. */
static PyObject *sandbox_done(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    if (notice.word != NULL) {
        __atomic_or_fetch(notice.word, FUTEX_OWNER_DIED, __ATOMIC_RELEASE);
        syscall(SYS_futex, notice.word, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
    Py_RETURN_NONE;
}

/* Whether the child that answers in this memory file is done or has ended; waits for it that long. */
static PyObject *sandbox_wait(PyObject *self, PyObject *args)
{
    (void)self;
    int answer_fd;
    unsigned int milliseconds;
    if (!PyArg_ParseTuple(args, "iI", &answer_fd, &milliseconds)) return NULL;
    uint32_t *word = mmap(NULL, sizeof *word, PROT_READ, MAP_SHARED, answer_fd, 0);
    if (word == MAP_FAILED) return PyErr_SetFromErrno(PyExc_OSError);
    uint32_t seen = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    if (!(seen & FUTEX_OWNER_DIED)) {
        struct timespec most = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
        Py_BEGIN_ALLOW_THREADS
        syscall(SYS_futex, word, FUTEX_WAIT, seen, &most, NULL, 0);
        Py_END_ALLOW_THREADS
        seen = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    }
    munmap(word, sizeof *word);
    return PyBool_FromLong((seen & FUTEX_OWNER_DIED) != 0);
}

static struct {
    char *at;
    size_t size;
} answer;

static PyObject *room_of_answer(void)
{
    Py_ssize_t room = (Py_ssize_t)answer.size - NOTICE_SIZE;
    return PyMemoryView_FromMemory(answer.at + NOTICE_SIZE, room, PyBUF_WRITE);
}

/* A child that waits for its job keeps three descriptors: 0 its socket, 1 the ruleset and 2 the
   view of its own size that tells later what it starts with. The file its answer will lie in is
   mapped already, so that the pages which a rehearsal writes to are there when the job comes. */
static PyObject *sandbox_await(PyObject *self, PyObject *args)
{
    (void)self;
    int socket, ruleset, zygote, answer_fd;
    struct stat file;
    if (!PyArg_ParseTuple(args, "iiii", &socket, &ruleset, &zygote, &answer_fd)) return NULL;
    must(fstat(answer_fd, &file) == 0, MAPS);
    answer.size = (size_t)file.st_size;
    answer.at = mmap(NULL, answer.size, PROT_READ | PROT_WRITE, MAP_SHARED, answer_fd, 0);
    must(answer.at != MAP_FAILED, MAPS);
    int statm = open("/proc/self/statm", O_RDONLY);
    must(statm >= 0 && dup2(socket, 0) == 0, DESCRIPTORS);
    must(ruleset < 0 || dup2(ruleset, 1) == 1, DESCRIPTORS);
    must(dup2(statm, 2) == 2, DESCRIPTORS);
    close_from(3);
    follow(zygote);
    nice(10); /* a courtesy, which no layer depends on */
    return room_of_answer();
}

/* A file of the server's. Private, because a shared mapping of a write-sealed file is refused by
   older kernels. */
static PyObject *mapped(int fd, unsigned long long size)
{
    if (size == 0) Py_RETURN_NONE;
    void *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    must(file != MAP_FAILED, MAPS);
    return PyMemoryView_FromMemory(file, (Py_ssize_t)size, PyBUF_READ);
}

static PyObject *sandbox_enter(PyObject *self, PyObject *args)
{
    (void)self;
    int job_fd, shared_fd, ruleset, statm, zygote;
    unsigned int layers, id, cpu_ms, wall_ms;
    unsigned long long job_size, shared_size, answer_size, memory;
    if (!PyArg_ParseTuple(args, "iKiKKiiiIIKII", &job_fd, &job_size, &shared_fd, &shared_size,
                          &answer_size, &ruleset, &statm, &zygote, &layers, &id, &memory,
                          &cpu_ms, &wall_ms))
        return NULL;

    PyObject *job = mapped(job_fd, job_size), *shared = mapped(shared_fd, shared_size);
    answer.at = mremap(answer.at, answer.size, answer_size, MREMAP_MAYMOVE);
    must(answer.at != MAP_FAILED, MAPS);
    answer.size = answer_size;
    memory += address_space(statm); /* which all mappings are part of */

    if (!(layers & LANDLOCK)) ruleset = -1;
    keep_only(ruleset);
    if (layers & PRIVILEGES) drop_privileges(id);
    if (layers & LIMITS) set_limits(memory, cpu_ms / 1000 + 2);
    follow(zygote); /* again: the change of user clears it */
    must(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0, PARENT);
    if (layers & TIMER) {
        set_alarm(CLOCK_PROCESS_CPUTIME_ID, cpu_ms); /* which counts from here */
        set_alarm(CLOCK_MONOTONIC, wall_ms);
    }
    must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, NO_NEW_PRIVS);
    if (layers & LANDLOCK) {
        must(syscall(CALL_LANDLOCK_RESTRICT_SELF, 0, 0) == 0, RULESET);
        must(close(0) == 0, RULESET);
    }
    give_notice(answer.at);
    if (layers & SECCOMP) install_filter();

    return Py_BuildValue("(NNN)", job, shared, room_of_answer());
}

/* Namespaces of its own, the user's among them, in which it keeps its id. */
static int enter_as_user(int flags)
{
    char map[64];
    int length = snprintf(map, sizeof map, "%u %u 1", geteuid(), geteuid());
    if (unshare(flags) != 0) return 0;
    int fd = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
    int named = fd >= 0 && write(fd, map, (size_t)length) == length;
    if (fd >= 0) close(fd);
    return named;
}

/* An extra where the host permits it: no network, no System V IPC, no host name. Free for runs,
   because the zygote enters once. An unprivileged one needs a user namespace for it, and a child
   tries that first: some hosts open the door, allow nothing behind it, and there is no way back. */
static PyObject *sandbox_unshare(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    int flags = CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
    if (unshare(flags) == 0) return PyLong_FromLong(flags);
    flags |= CLONE_NEWUSER;
    pid_t scout = fork();
    if (scout == 0) _exit(enter_as_user(flags) ? 0 : 1);
    int status;
    if (scout < 0 || waitpid(scout, &status, 0) != scout || status != 0) return PyLong_FromLong(0);
    if (!enter_as_user(flags)) return PyErr_SetFromErrno(PyExc_OSError);
    return PyLong_FromLong(flags);
}

static PyObject *sandbox_no_new_privs(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return PyLong_FromLong(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
}

static PyMethodDef methods[] = {
    {"sandbox_no_new_privs", sandbox_no_new_privs, METH_NOARGS, "1 once it can gain no rights."},
    {"sandbox_unshare", sandbox_unshare, METH_NOARGS, "Enter namespaces; those that were entered."},
    {"sandbox_await", sandbox_await, METH_VARARGS,
     "Let go of all but what a job needs; where to rehearse an answer."},
    {"sandbox_done", sandbox_done, METH_NOARGS, "Let whoever waits for the answer go on."},
    {"sandbox_wait", sandbox_wait, METH_VARARGS, "Wait until the child of an answer has ended."},
    {"sandbox_enter", sandbox_enter, METH_VARARGS, "Harden this process, for good."},
    {"sandbox_landlock", sandbox_landlock, METH_NOARGS,
     "(ruleset, abi, files, network, scopes): a ruleset that denies every right there is."},
    {"sandbox_filter", sandbox_filter, METH_VARARGS, "The system call filter of a machine."},
    {"sandbox_calls", sandbox_calls, METH_NOARGS, "(name, x86-64, aarch64) of what is allowed."},
    {NULL, NULL, 0, NULL},
};

int add_hardening(PyObject *module)
{
    return PyModule_AddFunctions(module, methods);
}

#else /* the functions are missing, and whoever looks for them says what that means */

int add_hardening(PyObject *module)
{
    (void)module;
    return 0;
}
#endif
