/* Each worker process has a socket: the caller sends job numbers with a result slot, the worker answers with
 * one byte per job, in order. Results are in shared memory; their bytes precede the answer, in messages of
 * more than one byte, so that a worker waits for a busy caller. */
#include "fleet/worker_pool.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os.h"
#ifdef __linux__
#include <sys/prctl.h>
#endif

enum {
    DEPTH = 4,     /* jobs queued per worker, so that it never waits for the next one */
    WINDOW = 4096, /* results that wait for an earlier one */
    WINDOW_BYTES = 64 << 20,
    MESSAGE = 32 << 10,
    NO_MEMORY_CODE = 97 /* exit code of a worker that ran out of memory */
};

struct order {
    uint64_t index;
    uint32_t place; /* of the result, among those of the worker */
};

struct worker {
    pid_t pid; /* 0: not started */
    int fd;
    size_t index[DEPTH]; /* a ring: entries before `first` are free */
    unsigned first, n;
    struct oc_buf bytes; /* of the job that is being answered */
};

struct held {     /* a result that waits for earlier ones */
    void *result; /* NULL: not available yet */
    char *bytes;
    size_t n_bytes;
};

struct run {
    const struct oc_worker_pool *pool;
    struct worker *worker;
    char *shared; /* jobs * DEPTH results */
    size_t shared_bytes;
    struct held *waiting; /* ring of WINDOW */
    size_t waiting_bytes;
    size_t *again; /* jobs of a worker that ended */
    size_t n_again;
    size_t next, told; /* next to be assigned; number delivered to the caller */
    struct pollfd *poll;
};

static void *worker_pool_place_of(const struct run *r, size_t worker, unsigned place)
{
    return r->shared + (worker * DEPTH + place) * r->pool->result_bytes;
}

/* ---- in a worker's process -------------------------------------------------------------------------- */

static void no_memory(size_t bytes)
{
    (void)bytes;
    _exit(NO_MEMORY_CODE);
}

static void worker_pool_own_signals(void)
{
    static const int mine[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTERM};
    for (size_t i = 0; i < OC_COUNT(mine); i++)
        signal(mine[i], SIG_DFL);
    signal(SIGINT, SIG_IGN); /* the terminal sends these to all processes; the caller handles them */
    signal(SIGHUP, SIG_IGN);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
}

static bool send_all(int fd, const char *data, size_t n)
{
    ssize_t sent;
    do
        sent = send(fd, data, n, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)n;
}

static bool answer(int fd, const struct oc_buf *bytes)
{
    char message[MESSAGE] = "";
    for (size_t at = 0, n; at < bytes->n; at += n) {
        n = bytes->n - at < sizeof(message) - 1 ? bytes->n - at : sizeof(message) - 1;
        memcpy(message + 1, bytes->data + at, n);
        if (!send_all(fd, message, n + 1))
            return false;
    }
    return send_all(fd, "", 1);
}

static _Noreturn void be_worker(const struct run *r, size_t self)
{
    struct order o;
    struct oc_buf bytes = {0};
    int fd = r->worker[self].fd;
    for (size_t i = 0; i < r->pool->jobs; i++)
        if (i != self && r->worker[i].pid)
            close(r->worker[i].fd);
    worker_pool_own_signals();
    oc_set_oom_handler(no_memory);
    for (;;) {
        ssize_t n = recv(fd, &o, sizeof(o), 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n != (ssize_t)sizeof(o))
            _exit(0);
        void *result = worker_pool_place_of(r, self, o.place);
        memset(result, 0, r->pool->result_bytes);
        oc_buf_clear(&bytes);
        r->pool->work(r->pool->arg, (size_t)o.index, result, &bytes);
        if (!answer(fd, &bytes))
            _exit(0);
    }
}

/* ---- in the caller's -------------------------------------------------------------------------------- */

static int worker_pool_start(struct run *r, size_t self, struct oc_err *err)
{
    int fd[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd))
        return oc_fail(err, OC_EMEMORY, "cannot create a socket: %s", strerror(errno));
    struct worker *w = &r->worker[self];
    *w = (struct worker){.fd = fd[1]};
    fflush(NULL); /* a process may flush its streams even in _exit: what they hold is written once */
    pid_t pid = fork();
    if (pid == 0) {
        close(fd[0]);
        be_worker(r, self);
    }
    close(fd[1]);
    if (pid < 0) {
        close(fd[0]);
        return oc_fail(err, OC_EMEMORY, "cannot start a process: %s", strerror(errno));
    }
    w->fd = fd[0];
    w->pid = pid;
    return 0;
}

static int end_worker(struct worker *w)
{
    int status = 0;
    close(w->fd);
    while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
        ;
    w->pid = 0;
    oc_buf_free(&w->bytes);
    return status;
}

static void *copy_of(const struct run *r, const void *result)
{
    void *copy = oc_xmalloc(r->pool->result_bytes);
    if (result)
        memcpy(copy, result, r->pool->result_bytes);
    else
        memset(copy, 0, r->pool->result_bytes);
    return copy;
}

/* The bytes move to the ring. */
static void hold(struct run *r, size_t index, void *result, struct oc_buf *bytes)
{
    struct held *h = &r->waiting[index % WINDOW];
    *h = (struct held){.result = result};
    if (!bytes || !bytes->n)
        return;
    h->bytes = bytes->data;
    h->n_bytes = bytes->n;
    r->waiting_bytes += bytes->n;
    *bytes = (struct oc_buf){0};
}

static void drop(struct run *r, struct held *h)
{
    r->waiting_bytes -= h->n_bytes;
    free(h->result);
    free(h->bytes);
    *h = (struct held){0};
}

static int deliver(struct run *r, struct oc_err *err)
{
    int rc = 0;
    while (!rc && r->told < r->pool->n && r->waiting[r->told % WINDOW].result) {
        struct held *h = &r->waiting[r->told % WINDOW];
        rc = r->pool->done(r->pool->arg, r->told++, h->result, h->bytes, h->n_bytes, err);
        drop(r, h);
    }
    return rc;
}

static size_t first_piece(struct worker *w)
{
    size_t index = w->index[w->first];
    w->first = (w->first + 1) % DEPTH;
    w->n--;
    return index;
}

/* A worker ended: its current job is lost, its queued jobs go to other workers. */
static void handle_exit(struct run *r, size_t self)
{
    struct worker *w = &r->worker[self];
    int status = end_worker(w);
    if (w->n) {
        size_t index = first_piece(w);
        void *result = copy_of(r, NULL);
        bool no_memory_left = WIFEXITED(status) && WEXITSTATUS(status) == NO_MEMORY_CODE;
        r->pool->lost(r->pool->arg, index,
                      no_memory_left        ? OC_WORKER_POOL_NO_MEMORY
                      : WIFSIGNALED(status) ? OC_WORKER_POOL_SIGNAL
                                            : OC_WORKER_POOL_EXIT,
                      WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), result);
        hold(r, index, result, NULL);
    }
    while (w->n)
        r->again[r->n_again++] = first_piece(w);
}

/* An idle worker, else one not yet started, else the one with the shortest queue. */
static size_t worker_pool_choose(const struct run *r)
{
    size_t best = SIZE_MAX, jobs = r->pool->jobs;
    for (size_t i = 0; i < jobs; i++)
        if (r->worker[i].pid && !r->worker[i].n)
            return i;
    for (size_t i = 0; i < jobs; i++)
        if (!r->worker[i].pid)
            return i;
    for (size_t i = 0; i < jobs; i++)
        if (r->worker[i].n < DEPTH && (best == SIZE_MAX || r->worker[i].n < r->worker[best].n))
            best = i;
    return best;
}

static bool stopped(const struct run *r)
{
    return r->pool->stop && *r->pool->stop;
}

static int worker_pool_assign(struct run *r, size_t self, size_t index, struct oc_err *err)
{
    struct worker *w = &r->worker[self];
    if (!w->pid && worker_pool_start(r, self, err))
        return -1;
    struct order o;
    memset(&o, 0, sizeof(o));
    o.index = index;
    o.place = (w->first + w->n) % DEPTH;
    w->index[o.place] = index;
    w->n++;
    /* other failures mean that the worker ended: reading its socket reports that */
    while (send(w->fd, &o, sizeof(o), MSG_NOSIGNAL) < 0 && errno == EINTR)
        ;
    return 0;
}

/* Whether the next job may begin: its result would have a place. The job that the others wait for always
 * may. */
static bool has_place(const struct run *r)
{
    return r->next < r->pool->n && r->next < r->told + WINDOW &&
           (r->next == r->told || r->waiting_bytes < WINDOW_BYTES);
}

static int hand_out(struct run *r, struct oc_err *err)
{
    while (!stopped(r) && (r->n_again || has_place(r))) {
        size_t self = worker_pool_choose(r);
        if (self == SIZE_MAX)
            return 0;
        if (worker_pool_assign(r, self, r->n_again ? r->again[--r->n_again] : r->next++, err))
            return -1;
    }
    return 0;
}

static void read_answers(struct run *r, size_t self)
{
    char message[MESSAGE];
    struct worker *w = &r->worker[self];
    /* "connection reset" occurs once, if requests were left unread, and before the remaining answers */
    ssize_t n = recv(w->fd, message, sizeof(message), MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN || errno == ECONNRESET))
        return;
    if (n <= 0 || !w->n) {
        handle_exit(r, self);
        return;
    }
    if (n > 1) {
        oc_buf_add(&w->bytes, message + 1, (size_t)n - 1);
        return;
    }
    unsigned place = w->first;
    size_t index = first_piece(w);
    hold(r, index, copy_of(r, worker_pool_place_of(r, self, place)), &w->bytes);
}

/* Waits for an answer. False: no worker has a job. */
static bool listen_to_all(struct run *r)
{
    bool busy = false;
    for (size_t i = 0; i < r->pool->jobs; i++) {
        struct worker *w = &r->worker[i];
        r->poll[i] = (struct pollfd){.fd = w->pid && w->n ? w->fd : -1, .events = POLLIN};
        busy = busy || (w->pid && w->n);
    }
    if (!busy || poll(r->poll, (nfds_t)r->pool->jobs, -1) < 0)
        return busy;
    for (size_t i = 0; i < r->pool->jobs; i++)
        if (r->poll[i].revents)
            read_answers(r, i);
    return true;
}

static int worker_pool_run_all(struct run *r, struct oc_err *err)
{
    for (;;) {
        if (hand_out(r, err) || deliver(r, err))
            return -1;
        /* no worker has a job, so all results are delivered: the next job may begin even if the window was full */
        if (!listen_to_all(r) && (stopped(r) || r->next == r->pool->n))
            return 0;
    }
}

static void clean_up(struct run *r, bool kill_them)
{
    for (size_t i = 0; i < r->pool->jobs; i++) {
        if (!r->worker[i].pid)
            continue;
        if (kill_them)
            kill(r->worker[i].pid, SIGKILL);
        end_worker(&r->worker[i]);
    }
    for (size_t i = 0; i < WINDOW; i++)
        drop(r, &r->waiting[i]);
    munmap(r->shared, r->shared_bytes);
    free(r->waiting);
    free(r->again);
    free(r->poll);
    free(r->worker);
}

static void *worker_pool_zeroed(size_t n, size_t size)
{
    void *p = calloc(n, size);
    if (!p)
        oc_out_of_memory(n * size);
    return p;
}

int oc_worker_pool_run(const struct oc_worker_pool *pool, struct oc_err *err)
{
    struct run r = {.pool = pool, .shared_bytes = (size_t)pool->jobs * DEPTH * pool->result_bytes};
    if (oc_os_check_processes("scan", err))
        return -1;
    r.shared = mmap(NULL, r.shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (r.shared == MAP_FAILED)
        oc_check_memory(errno);
    if (r.shared == MAP_FAILED)
        return oc_fail(err, OC_EIO, "cannot share memory: %s", strerror(errno));
    r.worker = worker_pool_zeroed(pool->jobs, sizeof(*r.worker));
    r.poll = worker_pool_zeroed(pool->jobs, sizeof(*r.poll));
    r.again = worker_pool_zeroed((size_t)pool->jobs * DEPTH, sizeof(*r.again));
    r.waiting = worker_pool_zeroed(WINDOW, sizeof(*r.waiting));
    int rc = worker_pool_run_all(&r, err);
    clean_up(&r, rc != 0);
    return rc;
}
