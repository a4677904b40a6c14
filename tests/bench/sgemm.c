/* OpenBLAS's sgemm: the reference for the f32 peak of `onnxcost hw measure`. The library is loaded if
 * installed (package libopenblas0-pthread). OPENBLAS_CORETYPE selects its kernels.
 *   sgemm THREADS N     prints GFLOP/s (2 N^3 per execution), the best of several, and the kernel name
 * Exit code 77: OpenBLAS is not installed. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXECUTIONS 6   /* minimum number of runs */
#define SECONDS    1.5 /* and minimum time */
enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111 };

typedef void gemm_fn(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda,
                     const float *b, int ldb, float beta, float *c, int ldc);

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *find(void *lib, const char *name)
{
    void *p = dlsym(lib, name);
    if (!p) {
        fprintf(stderr, "sgemm: OpenBLAS has no %s\n", name);
        exit(77);
    }
    return p;
}

static float *matrix(size_t n)
{
    float *p = aligned_alloc(64, n * n * sizeof(*p));
    for (size_t i = 0; p && i < n * n; i++)
        p[i] = (float)(i % 17) - 8;
    return p;
}

int main(int argc, char **argv)
{
    int threads = argc > 2 ? (int)strtol(argv[1], NULL, 10) : 0,
        n = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
    if (threads < 1 || n < 16 || n > 20000 || n % 16) {
        fprintf(stderr, "usage: sgemm THREADS N (a multiple of 16)\n");
        return 2;
    }
    void *lib = dlopen("libopenblas.so.0", RTLD_NOW);
    if (!lib) {
        fprintf(stderr, "sgemm: %s\n", dlerror());
        return 77;
    }
    gemm_fn *gemm;
    void (*set_threads)(int);
    char *(*core_name)(void);
    void *f = find(lib, "cblas_sgemm"), *t = find(lib, "openblas_set_num_threads"),
         *c = find(lib, "openblas_get_corename");
    memcpy(&gemm, &f, sizeof(f));
    memcpy(&set_threads, &t, sizeof(t));
    memcpy(&core_name, &c, sizeof(c));
    float *x = matrix((size_t)n), *y = matrix((size_t)n), *z = matrix((size_t)n);
    double best = 0;
    set_threads(threads);
    double end = now() + SECONDS;
    for (int i = 0; x && y && z && (i < EXECUTIONS || now() < end); i++) {
        double start = now();
        gemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, n, n, n, 1, x, n, y, n, 0, z, n);
        double rate = 2e-9 * n * n * n / (now() - start);
        best = i && rate > best ? rate : best; /* the first call creates the threads */
    }
    printf("%.2f %s\n", best, core_name());
    return 0;
}
