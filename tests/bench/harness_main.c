/* usage: harness COMMANDS TARGETS RESULTS.json TARGETS.md LOG [quick] */
#include "harness.h"

#include <string.h>

int main(int argc, char **argv)
{
    static struct tables t;
    struct oc_err err;
    double others = 0;
    if (argc < 6) {
        fprintf(stderr, "usage: harness COMMANDS TARGETS RESULTS.json TARGETS.md LOG [quick]\n");
        return 2;
    }
    bool quick = argc > 6 && strcmp(argv[6], "quick") == 0;
    int rc = bench_read_tables(&t, argv[1], argv[2], quick, &err);
    if (rc == 0) {
        others = bench_run_all(&t, argv[5]);
        bench_tell(&t, others);
        rc = bench_write_markdown(&t, argv[4], others, &err) ||
             bench_write_json(&t, argv[3], quick, others, &err);
    }
    if (rc)
        fprintf(stderr, "harness: %s\n", err.msg);
    return rc ? 1 : 0;
}
