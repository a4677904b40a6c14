/* Writes a profile of about the given size in the format of ONNX Runtime 1.14 and later: many runs of one
 * network of 200 convolutions, element-wise operators and matrix products, with slightly varying times.
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

static void node_event(struct writer *w, unsigned i)
{
    static const char *const type[] = {"Conv", "Add", "Relu", "MatMul"};
    static const unsigned typical_us[] = {180, 12, 8, 90};
    unsigned kind = i % 4, dur = typical_us[kind] + next_random(w, 10);
    put(w,
        printf("%s{\"cat\" : \"Node\",\"pid\" :4711,\"tid\" :4711,\"dur\" :%u,\"ts\" :%" PRIu64
               ",\"ph\" : \"X\",\"name\" :\"/layer%u/layer%u.%u/%s_kernel_time\",\"args\" : {\"op_name\" : "
               "\"%s\","
               "\"input_type_shape\" : [{\"float\":[1,64,56,56]},{\"float\":[64,64,3,3]},{\"float\":[64]}],"
               "\"output_type_shape\" : [{\"float\":[1,64,56,56]}],\"parameter_size\" : \"147712\","
               "\"activation_size\" : \"802816\",\"output_size\" : \"802816\",\"node_index\" : \"%u\","
               "\"provider\" : \"CPUExecutionProvider\",\"thread_scheduling_stats\" : \"\"}}",
               w->before, dur, w->ts, i / 50, i / 50, i % 50, type[kind], type[kind], i));
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
