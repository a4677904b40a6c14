#include "profile/profile.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "profile/core/timeline.h"
#include "support/profiles.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

static void assert_conserved(const struct oc_profile *p, bool device)
{
    struct oc_conserved c;
    oc_profile_conserved(p, device, &c);
    if (!(fabs(c.lost_ns) < 1))
        fail_msg("of %f ns %f are lost", c.imported_ns, c.lost_ns);
}

static struct oc_profile *read_with(const char *text, enum oc_stat stat)
{
    struct oc_profile_opts opts = {.warmup = OC_WARMUP_NONE, .stat = stat};
    struct oc_peek peek = {.path = "", .data = text, .n = strlen(text)};
    struct oc_profile *p;
    struct oc_bid bid = {0};
    struct oc_err err = {0};
    oc_importer_probe(oc_importer_named("nsys_csv"), &peek, &bid);
    assert_true(bid.score >= 80);
    if (oc_profile_from_mem(oc_importer_named("nsys_csv"), text, strlen(text), &opts, &p, &err))
        fail_msg("%s", err.msg);
    return p;
}

static struct oc_profile *read_text(const char *text)
{
    return read_with(text, OC_STAT_MEAN);
}

static const struct oc_prof_rec *find(const struct oc_profile *p, const char *name)
{
    for (uint32_t i = 0; i < p->n_rec; i++)
        if (strcmp(p->rec[i].name, name) == 0)
            return &p->rec[i];
    fail_msg("no record '%s'", name);
    return NULL;
}

static void assert_ns(double got, double want)
{
    if (!(fabs(got - want) < 1e-6))
        fail_msg("%.3f ns is not %.3f ns", got, want);
}

/* ---- headers ---- */

/* The same three launches in each version of the header: 2 us of "a, b" at 1 us, 0.5 us of a copy, 1 us of c.
 */
static void reads_traces_of_all_versions(void **state)
{
    (void)state;
    static const char *const text[] = {
        "Start(nsec),Duration(nsec),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/"
        "Trd,StcSMem,DymSMem,Bytes,Thru,SrcMemKd,"
        "DstMemKd,Device,Ctx,Strm,Name\n"
        "1000,2000,1,1,1,1,1,1,1,1,0,0,,,,,T4 (0),1,7,\"void f<a, b>(int)\"\n"
        "4000,500,2,,,,,,,,,,4096,,Device,Pinned,T4 (0),1,7,[CUDA memcpy DtoH]\n"
        "5000,1000,3,1,1,1,1,1,1,1,0,0,,,,,T4 (0),1,7,c\n",
        "Start (us),Duration (us),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem "
        "(MB),Bytes (MB),"
        "Throughput (MBps),SrcMemKd,DstMemKd,Device,Ctx,Strm,Name\r\n"
        "1.0,2.0,1,1,1,1,1,1,1,1,0,0,,,,,T4 (0),1,7,\"void f<a, b>(int)\"\r\n"
        "4.0,0.5,2,,,,,,,,,,0.004096,,Device,Pinned,T4 (0),1,7,[CUDA memcpy DtoH]\r\n"
        "5.0,1.0,3,1,1,1,1,1,1,1,0,0,,,,,T4 (0),1,7,c\r\n",
        "\nNOTICE: Existing SQLite export found: x.sqlite\n        It is assumed file was exported, once: "
        "x\n\n"
        "Processing [x.sqlite] with [cuda_gpu_trace.py]... \n"
        "Start (ms),Duration (ms),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem "
        "(MB),Bytes (MB),"
        "Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n"
        "0.001,0.002,1,1,1,1,1,1,1,1,0,0,,,,,T4 (0),1,,7,\"void f<a, b>(int)\"\n"
        "0.004,0.0005,2,,,,,,,,,,0.004096,,Device,Pinned,T4 (0),1,,7,[CUDA memcpy DtoH]\n"
        "0.005,0.001,3,1,1,1,1,1,1,1,0,0,,,,,T4 (0),1,,7,c\n"
        "\nProcessing [x.sqlite] with [osrt_sum.py]... \nTime (%),Total Time (ns),Num "
        "Calls,Name\n99,5,1,read\n",
    };
    for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
        struct oc_profile *p = read_text(text[i]);
        assert_conserved(p, true);
        assert_string_equal(p->device, "T4");
        assert_ns(p->imported_kernel_ns, 3500);
        assert_ns(p->busy_ns, 3500);
        assert_string_equal(p->diags.item[0].code, "W-no-run");
        assert_int_equal(p->n_rec, 3);
        assert_ns(find(p, "void f<a, b>(int)")->time_ns, 2000);
        const struct oc_prof_rec *copy = find(p, "[CUDA memcpy DtoH]");
        assert_string_equal(copy->bucket, "copies");
        assert_ns(copy->time_ns, 500);
        if (i) /* 2020: no unit of size is given */
            assert_ns(copy->bytes, 4096);
        assert_int_equal(p->lane[0].id, 7);
        assert_int_equal(p->lane[0].device_id, 0);
        oc_profile_close(p);
    }
}

static void time_of_one_launch_is_that_of_the_recording(void **state)
{
    (void)state;
    struct oc_profile *p =
        read_with("Start (ns),Duration (ns),CorrId,Strm,Name\n1000,2000,1,7,f\n", OC_STAT_TYPICAL);
    for (size_t i = 0; i < p->diags.n; i++)
        assert_string_not_equal(p->diags.item[i].code, "W-no-run");
    assert_ns(find(p, "f")->time_ns, 2000);
    assert_int_equal(p->stat, OC_STAT_SUM);
    oc_profile_close(p);
}

/* 2021 (no median) and later; 600 ns in 3 calls of f, 90 in 6 of g: 3 runs of 200 + 30 ns. */
static void reads_kernel_sums(void **state)
{
    (void)state;
    static const char *const text[] = {
        "Time(%),Total Time "
        "(ns),Instances,Average,Minimum,Maximum,Name\n87.0,600,3,200.0,190,210,f\n13.0,90,6,15.0,14,16,g\n",
        "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
        "87.0,600,3,200.0,200.0,190,210,1.0,f\n13.0,90,6,15.0,15.0,14,16,0.0,g\n",
        "Time (%);x\nTime (%),Total Time (us),Instances,Avg (us),Min (us),Max "
        "(us),Name\n87.0,0.6,3,0.2,0.19,0.21,f\n"
        "13.0,0.09,6,0.015,0.014,0.016,g\n",
        "CUDA GPU Kernel Summary\n\n Time (%)  Total Time (ns)  Instances  Avg (ns)  Min (ns)  Max (ns)  "
        "Name\n"
        " --------  ---------------  ---------  --------  --------  --------  ----\n"
        "     87.0              600          3     200.0       190       210  f\n"
        "     13.0               90          6      15.0        14        16  g\n\n",
        "CUDA Kernel Statistics (microseconds)\n\nTime(%)  Total Time  Instances  Average  Minimum  Maximum  "
        "Name\n"
        "-------  ----------  ---------  -------  -------  -------  ----\n"
        "   87.0         0.6          3     0.20     0.19     0.21  f   \n"
        "   13.0        0.09          6    0.015    0.014    0.016  g   \n",
    };
    for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
        struct oc_profile *p = read_text(text[i]);
        assert_conserved(p, true);
        assert_ns(p->imported_kernel_ns, 690);
        assert_int_equal(p->runs_from, OC_RUNS_UNKNOWN); /* layers repeat: counts do not show the runs */
        assert_int_equal(p->runs_total, 0);
        assert_int_equal(p->stat, OC_STAT_SUM);
        assert_non_null(t_finding(p, "W-no-run"));
        assert_ns(find(p, "f")->time_ns, 600);
        assert_ns(find(p, "g")->time_ns, 90);
        assert_int_equal(find(p, "g")->calls, 6);
        assert_int_equal(p->n_kernel, 2);
        assert_ns(p->kernel[0].min_ns, 190);
        assert_ns(p->kernel[0].max_ns, 210);
        oc_profile_close(p);
    }
}

/* Sums over all runs: the first run cannot be dropped, and a warning says so. */
static void sums_without_runs_keep_the_first_run_with_a_warning(void **state)
{
    (void)state;
    static const char text[] =
        "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
        "87.0,600,3,200.0,200.0,190,210,1.0,f\n13.0,90,6,15.0,15.0,14,16,0.0,g\n";
    for (int32_t warmup = -1; warmup < 2; warmup++) {
        struct oc_profile_opts opts = {.warmup = t_warmup(warmup), .stat = OC_STAT_MEAN};
        struct oc_err err = {0};
        struct oc_profile *p = t_profile_text(text, &opts, &err);
        if (!p)
            fail_msg("%s", err.msg);
        const char *told = t_finding(p, "W-warmup");
        if (warmup > 0)
            assert_string_equal(told, "the file has sums only: warm-up runs cannot be excluded");
        else
            assert_null(told); /* not requested */
        assert_int_equal(p->runs_total, 0);
        assert_ns(find(p, "f")->time_ns, 600);
        oc_profile_close(p);
    }
}

/* Copied to a page by hand: the numbers are not below their titles. */
static void columns_of_an_edited_row_are_its_words(void **state)
{
    (void)state;
    struct oc_profile *p = read_text("Time(%)  Total Time  Instances  Average  Name\n"
                                     "-------  ----------  ---------  -------  ----------\n"
                                     "  100.0    83786531    6     13964421.8   f(int, int)\n\n"
                                     "Time(%)  Total Time  Operations  Average  Name\n"
                                     "-------  ----------  ----------  -------  ----------\n"
                                     "93.2   1047959246     6          174659874.3    [CUDA memcpy HtoD]\n");
    assert_int_equal(find(p, "f(int, int)")->calls, 6);
    assert_ns(find(p, "f(int, int)")->total_kernel_ns, 83786531);
    assert_string_equal(find(p, "[CUDA memcpy HtoD]")->bucket, "copies");
    oc_profile_close(p);
}

/* Locales zh_TW, en_IN, de_CH (quotation mark of 3 bytes), de_DE, and one without groups. */
static void numbers_in_the_locale_of_the_user_are_read(void **state)
{
    (void)state;
    static const char *const row[] = {
        "     14.1      8,4521,1450     3,8928  2,1712.2      9120    3,9265  f\n",
        "     14.1     84,52,11,450     38,928  21,712.2     9,120    39,265  f\n",
        "     14.1      845\xe2\x80\x99"
        "211\xe2\x80\x99"
        "450     38\xe2\x80\x99"
        "928  21\xe2\x80\x99"
        "712.2     9\xe2\x80\x99"
        "120    39\xe2\x80\x99"
        "265  f\n",
        "     14,1      845.211.450     38.928  21.712,2     9.120    39.265  f\n",
        "     14,1        845211450      38928   21712,2      9120     39265  f\n",
    };
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        char text[600];
        snprintf(text, sizeof(text),
                 " Time (%%)  Total Time (ns)  Instances  Avg (ns)  Min (ns)  Max (ns)  Name\n"
                 " --------  ---------------  ---------  --------  --------  --------  ----\n%s",
                 row[i]);
        struct oc_profile *p = read_text(text);
        assert_int_equal(find(p, "f")->calls, 38928);
        assert_ns(find(p, "f")->total_kernel_ns, 845211450);
        assert_ns(p->kernel[0].min_ns, 9120);
        assert_ns(p->kernel[0].max_ns, 39265);
        oc_profile_close(p);
    }
}

static void recording_of_copies_alone_says_so(void **state)
{
    (void)state;
    struct oc_profile *p =
        read_text("Time (%),Total Time (ns),Count,Avg (ns),Operation\n100.0,14,2,7.0,[CUDA memset]\n");
    const char *text = t_finding(p, "W-no-operators");
    assert_true(text && strstr(text, "all its time is 'copies'"));
    oc_profile_close(p);
}

/* A README with two recordings, as CSV and as printed; the warning names both places. The second recording of
 * the last text has another report than the first. */
static void second_recording_in_a_file_is_not_added(void **state)
{
#define SUM_HEADER "Time (%),Total Time (ns),Instances,Avg (ns),Name\n"
#define PRINTED                                                                                              \
    " Time (%)  Total Time (ns)  Instances  Name\n --------  ---------------  ---------  ----\n"             \
    "    100.0              300          6  f\n\n"
    static const struct {
        const char *text, *places;
    } of[] = {{"# before\n" SUM_HEADER "100,300,6,50,f\n\n# after\n" SUM_HEADER "100,200,6,33,f\n",
               "at lines 2 and 6:"},
              {"before\n\n" PRINTED "after\n\n" PRINTED PRINTED, "at lines 4 and 10 ..:"},
              {"Processing [a.sqlite] with [cuda_gpu_kern_sum]...\n" SUM_HEADER "100,300,6,50,f\n\n"
               "Processing [b.sqlite] with [nvtx_sum]...\n"
               "Time (%),Total Time (ns),Instances,Avg (ns),Range\n100,200,6,33,:step\n",
               "at lines 2 and 6:"}};
    (void)state;
    for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
        struct oc_profile *p = read_text(of[i].text);
        const char *text = t_finding(p, "W-several-profiles");
        assert_ns(p->imported_kernel_ns, 300);
        assert_int_equal(find(p, "f")->calls, 6);
        assert_true(text && strstr(text, of[i].places));
        oc_profile_close(p);
    }
}

/* --format table: frames around the cells, of characters and not bytes; a name may contain a bar. --format tsv.
 * The copies are a bucket. */
static void tables_with_frames_and_tsv_are_read(void **state)
{
#define FRAME "+----------+-----------------+-----------+--------------+\n"
#define TSV   "Time (%)\tTotal Time (ns)\tInstances\tName\n"
    static const char *const text[] = {
        "Processing [x.sqlite] with [cuda_gpu_kern_sum.py]... \n\n ** CUDA GPU Kernel Summary:\n\n" FRAME
        "| Time (%) | Total Time (ns) | Instances |     Name     |\n" FRAME
        "|     75.0 |           9,000 |       144 | f<a|b, c>(d… |\n"
        "|     25.0 |           3,000 |         2 | void g(int)  |\n" FRAME "\n\n"
        "Processing [x.sqlite] with [cuda_gpu_mem_time_sum.py]... \n\n" FRAME
        "| Time (%) | Total Time (ns) |   Count   |  Operation   |\n" FRAME
        "|    100.0 |             500 |         4 | [CUDA memset]|\n" FRAME,
        TSV "75.0\t9000\t144\tf<a|b, c>(d…\n25.0\t3000\t2\tvoid g(int)\n\n"
            "Time (%)\tTotal Time (ns)\tCount\tOperation\n100.0\t500\t4\t[CUDA memset]\n"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct oc_profile *p = read_text(text[i]);
        assert_conserved(p, true);
        assert_ns(p->imported_kernel_ns, 12500);
        assert_int_equal(p->n_rec, 3);
        assert_ns(find(p, "f<a|b, c>(d…")->total_kernel_ns, 9000);
        assert_int_equal(find(p, "f<a|b, c>(d…")->calls, 144);
        assert_int_equal(find(p, "void g(int)")->calls, 2);
        assert_null(t_finding(p, "W-several-profiles"));
        oc_profile_close(p);
    }
    struct oc_profile *p =
        read_text(FRAME "| Time (%) | Total Time (ns) | Instances |     Name     |\n" FRAME
                        "|    100.0 |           9,000 |       144 | f            |\n"
                        "|    100.0 |           9,000 |       144 | edited |\n" FRAME FRAME
                        "| Time (%) | Total Time (ns) | Instances |     Name     |\n" FRAME
                        "|    100.0 |           5,000 |         1 | of another   |\n" FRAME);
    assert_ns(p->imported_kernel_ns, 18000); /* an edited row whose bars are elsewhere is a row */
    assert_non_null(t_finding(p, "W-several-profiles"));
    oc_profile_close(p);
}

/* Layers by kernel; the outer range contains all of them: 2 runs of 100 + 20 + 30 ns, and 40 ns of kernels in
 * no layer in both runs together. The kernel sums of the same recording must not count twice. */
static void kernels_by_nvtx_range_are_layers(void **state)
{
    (void)state;
    struct oc_profile *p =
        read_text("Processing [x.sqlite] with [nvtx_kern_sum.py]...\n"
                  "NVTX Range,Style,PID,TID,NVTX Inst,Kern Inst,Total Time (ns),Avg (ns),Med (ns),Min "
                  "(ns),Max (ns),StdDev "
                  "(ns),Kernel Name\n"
                  "TensorRT:ExecutionContext::enqueueV3,PushPop,1,2,2,8,340,1,1,1,1,1,f\n"
                  "\"TensorRT:Conv_0, Relu_1\",PushPop,1,2,2,2,200,100,100,99,101,1,f\n"
                  "\"TensorRT:Conv_0, Relu_1\",PushPop,1,2,2,4,40,10,10,10,10,0,g\n"
                  ":Relu.3(/r/Relu),PushPop,1,2,2,2,60,30,30,30,30,0,f\n"
                  "\nProcessing [x.sqlite] with [cuda_gpu_kern_sum.py]...\n"
                  "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
                  "90,300,6,1,1,1,1,1,f\n10,40,4,1,1,1,1,1,g\n"
                  "\nProcessing [x.sqlite] with [cuda_gpu_mem_time_sum.py]...\n"
                  "Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Operation\n"
                  "100.0,14,2,7.0,7.0,7,7,0.0,[CUDA memcpy HtoD]\n");
    assert_conserved(p, true);
    assert_int_equal(p->runs_used, 2);
    assert_ns(find(p, "Conv_0, Relu_1")->time_ns, 120);
    assert_true(isnan(find(p, "Conv_0, Relu_1")->min_ns)); /* a sum over several runs has no minimum */
    assert_int_equal(find(p, "Conv_0, Relu_1")->calls, 6);
    assert_string_equal(find(p, "Conv_0, Relu_1")->provider, "TensorRT");
    const struct oc_prof_rec *relu = find(p, "/r/Relu");
    assert_string_equal(relu->op_type, "Relu");
    assert_int_equal(relu->index, 3);
    assert_ns(relu->time_ns, 30);
    assert_ns(find(p, "(kernels without operator)")->total_kernel_ns, 40);
    assert_ns(find(p, "[CUDA memcpy HtoD]")->time_ns, 7);
    assert_ns(p->imported_kernel_ns, 340 + 14);
    oc_profile_close(p);
}

/* Ranges projected on the device nest: conv has 100 ns, 30 of them in its part; 20 ns of the run are in no
 * layer. */
static void projected_nvtx_ranges_nest(void **state)
{
    (void)state;
    struct oc_profile *p =
        read_text("Name,Projected Start (ns),Projected Duration (ns),Orig Start (ns),Orig Duration "
                  "(ns),Style,PID,TID,NumGPUOps,Lvl,"
                  "NumChild,RangeId,ParentId,RangeStack\n"
                  "TensorRT:ExecutionContext::enqueue,1000,120,0,50,PushPop,1,1,3,0,1,10,,:10\n"
                  "TensorRT:conv,1000,100,1,9,PushPop,1,1,2,1,1,11,10,:10:11\n"
                  "TensorRT:part,1010,30,2,3,PushPop,1,1,1,2,0,12,11,:10:11:12\n"
                  "TensorRT:ExecutionContext::enqueue,2000,140,90,50,PushPop,1,1,3,0,1,20,,:20\n"
                  "TensorRT:rare,2000,5,91,9,PushPop,1,1,2,1,1,22,20,:20:22\n"
                  "TensorRT:conv,2005,115,91,9,PushPop,1,1,2,1,1,21,20,:20:21\n");
    assert_conserved(p, true);
    assert_int_equal(p->runs_used, 2);
    assert_string_equal(p->rec[p->n_rec - 1].name, "rare"); /* the first run does not have it */
    assert_ns(find(p, "conv")->time_ns, (70 + 115) / 2.0);
    assert_ns(find(p, "part")->time_ns, 30 / 2.0);                /* mean over both runs */
    assert_ns(find(p, "ExecutionContext::enqueue")->time_ns, 20); /* of the range itself */
    assert_string_equal(find(p, "ExecutionContext::enqueue")->rest, "(kernels without an operator)");
    assert_ns(p->imported_kernel_ns, 260);
    assert_int_equal(p->n_kernel, 0);
    oc_profile_close(p);
    p = read_text(
        "Range,Style,Total Proj Time (ns),Total Range Time (ns),Range Instances,Proj Avg (ns),Proj Med "
        "(ns),Proj "
        "Min (ns),Proj Max (ns),Proj StdDev (ns),Total GPU Ops,Avg GPU Ops,Avg Range Lvl,Avg Num Child\n"
        "TensorRT:ExecutionContext::enqueue,PushPop,260,100,2,130,130,120,140,1,6,3.0,0.0,2.0\n"
        "TensorRT:conv,PushPop,180,100,2,90,90,80,100,1,4,2.0,1.0,0.0\n"
        "TensorRT:pool,PushPop,60,100,2,30,30,30,30,1,2,1.0,1.0,0.0\n");
    assert_conserved(p, true);
    assert_int_equal(p->runs_used, 2);
    assert_ns(find(p, "conv")->time_ns, 90);
    assert_ns(find(p, "pool")->time_ns, 30);
    assert_ns(find(p, "(kernels without operator)")->time_ns, 10);
    oc_profile_close(p);
}

static void host_nvtx_ranges_are_read(void **state)
{
    (void)state;
    struct oc_profile *p = read_text("Start (ns),End (ns),Duration (ns),DurChild (ns),DurNonChild "
                                     "(ns),Name,PID,TID,Lvl,NumChild,RangeId,ParentId,"
                                     "RangeStack,NameTree\n"
                                     "0,100,100,90,10,:Batch-0 Forward,1,1,0,2,1,,:1,\n"
                                     "5,65,60,0,60,:Conv.0(c),1,1,1,0,2,1,:1:2,\n"
                                     "70,100,30,0,30,:Relu.1(r),1,1,1,0,3,1,:1:3,\n");
    assert_conserved(p, false);
    assert_string_equal(p->time_kind, "host time");
    assert_ns(find(p, "c")->time_ns, 60);
    assert_true(isnan(find(p, "c")->kernel_ns));
    assert_string_equal(find(p, "(framework)")->bucket, "framework");
    assert_ns(p->imported_ns, 100);
    oc_profile_close(p);
    p = read_text(
        "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Style,Range\n"
        "60,600,3,200,200,200,200,0,PushPop,:Conv.0(c)\n40,400,3,1,1,1,1,0,PushPop,:Relu.1(r)\n");
    assert_conserved(p, false);
    assert_ns(find(p, "c")->time_ns, 600);
    oc_profile_close(p);
}

static void kernels_with_api_calls_are_read(void **state)
{
    (void)state;
    struct oc_profile *p =
        read_text("API Start (ns),API Dur (ns),Queue Start (ns),Queue Dur (ns),Kernel Start (ns),Kernel Dur "
                  "(ns),Total Dur "
                  "(ns),PID,TID,DevId,API Function,GridXYZ,BlockXYZ,Kernel Name\n"
                  "0,10,,,20,5,25,77,78,0,cudaLaunchKernel,\"   1   1   1\",\" 128    1    1\",f\n"
                  "30,10,,,50,7,27,77,78,0,cudaLaunchKernel,\"   1   1   1\",\" 128    1    1\",g\n");
    assert_conserved(p, true);
    assert_ns(find(p, "f")->time_ns, 5);
    assert_ns(find(p, "g")->time_ns, 7);
    assert_int_equal(p->lane[0].process, 77);
    oc_profile_close(p);
}

static void rejects_text_that_is_not_a_report(void **state)
{
    (void)state;
    static const char *const text[] = {"a,b\n1,2\n", "Time (%),Total Time (ns),Num Calls,Name\n1,2,3,read\n",
                                       "Time (%),Total Time (ns),Instances,Name\n", "---- ---- ----\n", ""};
    for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
        struct oc_profile_opts opts = {0};
        struct oc_profile *p;
        struct oc_err err = {0};
        assert_int_equal(
            oc_profile_from_mem(oc_importer_named("nsys_csv"), text[i], strlen(text[i]), &opts, &p, &err),
            -1);
        assert_non_null(strstr(err.msg, "no row of an nsys stats report"));
    }
}

/* ---- samples ---- */

#define NSYS "../shared/samples/nsys/"

/* Sums and counts of the columns Total Time and Instances, computed outside this program. The printed tables
 * of 2023 truncate names, so kernels may share one. */
static const struct sample {
    const char *file;
    double kernels_ns, copies_ns;
    unsigned runs, kernels;
    uint64_t calls;
} samples[] = {
    {"nvtx_kern_sum.synthetic.csv", 802803, 0, 1, 5, 15},
    {"cuda_gpu_kern_sum.synthetic.csv", 802803, 0, 1, 5, 15},
    {"cuda_gpu_trace.2022header.synthetic.csv", 802803, 33000, 3, 6, 18},
    {"cuda_gpu_trace.2026header.synthetic.csv", 802803, 33000, 3, 6, 18},
    {"nsys2020.stats.paddle_gcn.txt", 319640, 279581 + 58141 + 57628, 1, 30, 136 + 314},
    {"nsys2023.stats.paddle_gcn.txt", 463874, 454702, 1, 31, 136 + 318},
    {"nsys2023.stats.torch_gcn.txt", 277215, 138432 + 13087 + 3681, 1, 22, 69 + 106},
};

static void check_sample(const struct sample *s)
{
    struct oc_profile_opts opts = {.warmup = OC_WARMUP_NONE, .stat = OC_STAT_SUM};
    struct oc_profile *p;
    struct oc_err err = {0};
    char path[200];
    double copies_ns = 0, kernels_ns = 0;
    uint64_t calls = 0;
    snprintf(path, sizeof(path), NSYS "%s", s->file);
    if (oc_profile_open(path, &opts, &p, &err))
        fail_msg("%s", err.msg);
    assert_string_equal(oc_profile_importer(p), "nsys_csv");
    assert_conserved(p, true);
    for (uint32_t i = 0; i < p->n_kernel; i++) {
        *(p->kernel[i].kind == OC_EV_KERNEL ? &kernels_ns : &copies_ns) += p->kernel[i].total_ns;
        calls += p->kernel[i].calls;
    }
    assert_ns(kernels_ns, s->kernels_ns);
    assert_ns(copies_ns, s->copies_ns);
    assert_ns(p->imported_kernel_ns, s->kernels_ns + s->copies_ns);
    assert_int_equal(p->runs_used, s->runs);
    assert_int_equal(p->n_kernel, s->kernels);
    assert_int_equal(calls, s->calls);
    oc_profile_close(p);
}

static void sample_reports_match_independent_sums(void **state)
{
    (void)state;
    if (access(NSYS, R_OK)) {
        print_message("SKIPPED: no samples in '" NSYS "'\n");
        skip();
    }
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
        check_sample(&samples[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_traces_of_all_versions),
        cmocka_unit_test(time_of_one_launch_is_that_of_the_recording),
        cmocka_unit_test(reads_kernel_sums),
        cmocka_unit_test(kernels_by_nvtx_range_are_layers),
        cmocka_unit_test(projected_nvtx_ranges_nest),
        cmocka_unit_test(host_nvtx_ranges_are_read),
        cmocka_unit_test(kernels_with_api_calls_are_read),
        cmocka_unit_test(rejects_text_that_is_not_a_report),
        cmocka_unit_test(sample_reports_match_independent_sums),
        cmocka_unit_test(columns_of_an_edited_row_are_its_words),
        cmocka_unit_test(numbers_in_the_locale_of_the_user_are_read),
        cmocka_unit_test(recording_of_copies_alone_says_so),
        cmocka_unit_test(second_recording_in_a_file_is_not_added),
        cmocka_unit_test(tables_with_frames_and_tsv_are_read),
        cmocka_unit_test(sums_without_runs_keep_the_first_run_with_a_warning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
