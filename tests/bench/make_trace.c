/* Writes a profile of about the given size as ONNX Runtime 1.28 and later write it, arguments in an order that changes
 * from event to event: many runs of one network of 200 convolutions, element-wise operators and matrix products, with
 * slightly varying times.
 * usage: make_trace BYTES >FILE */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 200 };

struct writer {
    uint64_t written, limit, ts;
    uint32_t random;
    const char *before; /* separator of events */
};

static unsigned next_random(struct writer *w, unsigned below)
{
    w->random = w->random * 1664525u + 1013904223u;
    return (w->random >> 16) % below;
}

static void put(struct writer *w, int n)
{
    if (n < 0)
        exit(1);
    w->written += (uint64_t)n;
    w->before = ",\n";
}

static void session_event(struct writer *w, const char *name, uint64_t ts, uint64_t dur)
{
    put(w, printf("%s{\"cat\" : \"Session\",\"pid\" :4711,\"tid\" :4711,\"dur\" :%" PRIu64 ",\"ts\" :%" PRIu64
                  ",\"ph\" : \"X\",\"name\" :\"%s\",\"args\" : {}}",
                  w->before, dur, ts, name));
}

/* The arguments are in the order of a hash table whose seed changes. */
static int put_arguments(struct writer *w, const char *type, unsigned node)
{
    char index[40], op[60];
    snprintf(index, sizeof(index), "\"node_index\" : \"%u\"", node);
    snprintf(op, sizeof(op), "\"op_name\" : \"%s\"", type);
    const char *arg[] = {
        index,
        op,
        "\"input_type_shape\" : [{\"float\":[1,64,56,56]},{\"float\":[64,64,3,3]},{\"float\":[64]}]",
        "\"output_type_shape\" : [{\"float\":[1,64,56,56]}]",
        "\"parameter_size\" : \"147712\"",
        "\"activation_size\" : \"802816\"",
        "\"output_size\" : \"802816\"",
        "\"provider\" : \"CPUExecutionProvider\"",
        "\"thread_scheduling_stats\" : \"\"",
        "\"mem_in_use_peak\" : \"4940236\"",
        "\"mem_bytes_in_use\" : \"931788\"",
        "\"mem_in_use_delta\" : \"0\"",
        "\"mem_bytes_requested_in_use\" : \"838860\"",
        "\"mem_requested_in_use_delta\" : \"0\"",
        "\"mem_arena_held\" : \"8391116\"",
        "\"mem_arena_held_delta\" : \"0\"",
    };
    unsigned left = sizeof(arg) / sizeof(arg[0]);
    int n = 0;
    for (; left; left--) {
        unsigned k = next_random(w, left);
        n += printf("%s%s", arg[k], left > 1 ? "," : "");
        arg[k] = arg[left - 1];
    }
    return n;
}

static void node_event(struct writer *w, unsigned i)
{
    static const char *const type[] = {"Conv", "Add", "Relu", "MatMul"};
    static const unsigned typical_us[] = {180, 12, 8, 90};
    unsigned kind = i % 4, dur = typical_us[kind] + next_random(w, 10);
    int n = printf("%s{\"cat\" : \"Node\",\"pid\" :4711,\"tid\" :4711,\"dur\" :%u,\"ts\" :%" PRIu64
                   ",\"ph\" : \"X\",\"name\" :\"/layer%u/layer%u.%u/%s_kernel_time\",\"args\" : {",
                   w->before, dur, w->ts, i / 50, i / 50, i % 50, type[kind]);
    put(w, n + put_arguments(w, type[kind], i) + printf("}}"));
    w->ts += dur + 1;
}

int main(int argc, char **argv)
{
    struct writer w = {
        .limit = argc > 1 ? strtoull(argv[1], NULL, 10) : 0, .ts = 1000, .random = 1, .before = "[\n"};
    if (!w.limit)
        return 2;
    session_event(&w, "session_initialization", 10, 900);
    while (w.written < w.limit) {
        uint64_t start = w.ts;
        w.ts += 5;
        for (unsigned i = 0; i < NODES; i++)
            node_event(&w, i);
        session_event(&w, "SequentialExecutor::Execute", start + 2, w.ts - start - 2);
        session_event(&w, "model_run", start, w.ts - start + 3);
        w.ts += 10;
    }
    printf("\n]\n");
    return ferror(stdout) != 0;
}
