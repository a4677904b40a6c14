/* STREAM's triad, a = b + q c, as plain C for the compiler to optimize: the reference for the bandwidth
 * of `onnxcost hw measure`. Each thread has its part of the arrays and touches it first.
 *   stream_triad THREADS MIB [huge]     MIB: of all three arrays; huge: in large pages
 * Prints GB/s, the best of ten passes (24 bytes per element, as STREAM counts). */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define PASSES      10
#define MAX_THREADS 1024

struct part {
    double *a, *b, *c;
    size_t n;
    pthread_barrier_t *barrier;
    double seconds[PASSES]; /* from the barrier before to the barrier after */
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void triad(double *restrict a, const double *restrict b, const double *restrict c, double q, size_t n)
{
    for (size_t i = 0; i < n; i++)
        a[i] = b[i] + q * c[i];
}

static void *work(void *arg)
{
    struct part *p = arg;
    for (size_t i = 0; i < p->n; i++) {
        p->a[i] = 1;
        p->b[i] = 2;
        p->c[i] = 0;
    }
    for (int pass = 0; pass < PASSES; pass++) {
        pthread_barrier_wait(p->barrier);
        double start = now();
        triad(p->a, p->b, p->c, 3, p->n);
        pthread_barrier_wait(p->barrier);
        p->seconds[pass] = now() - start;
    }
    return NULL;
}

static double *array(size_t bytes, bool huge)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        perror("stream_triad");
        exit(1);
    }
    if (huge)
        madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}

int main(int argc, char **argv)
{
    static struct part part[MAX_THREADS];
    static pthread_t thread[MAX_THREADS];
    pthread_barrier_t barrier;
    size_t threads = argc > 2 ? strtoul(argv[1], NULL, 10) : 0,
           mib = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    bool huge = argc > 3 && strcmp(argv[3], "huge") == 0;
    if (threads < 1 || threads > MAX_THREADS || mib < 3) {
        fprintf(stderr, "usage: stream_triad THREADS MIB [huge]\n");
        return 2;
    }
    size_t n = (mib << 20) / 3 / sizeof(double) / threads;
    double *a = array(n * threads * sizeof(double), huge), *b = array(n * threads * sizeof(double), huge),
           *c = array(n * threads * sizeof(double), huge), best = 0;
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (size_t i = 0; i < threads; i++) {
        part[i] = (struct part){a + i * n, b + i * n, c + i * n, n, &barrier, {0}};
        if (pthread_create(&thread[i], NULL, work, &part[i]))
            return 1;
    }
    for (size_t i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    for (int pass = 1; pass < PASSES; pass++) { /* the first pass is not counted, as in STREAM */
        double slowest = 0;
        for (size_t i = 0; i < threads; i++)
            slowest = part[i].seconds[pass] > slowest ? part[i].seconds[pass] : slowest;
        double rate = 24e-9 * (double)(n * threads) / slowest;
        best = rate > best ? rate : best;
    }
    if (a[n / 2] != 2) /* 2 + 3 * 0 */
        return 1;
    printf("%.3f\n", best);
    return 0;
}
