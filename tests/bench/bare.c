/* Lower bounds for readers of a file, one program each. usage: bare WHAT FILE
 *   read     read(2) of every byte into one buffer
 *   touch    one byte of every page of a mapping
 *   memchr   every byte of a mapping, by memchr
 *   json     one pass over JSON that finds every string, escape, number, brace and comma; stores nothing
 *   inflate  only zlib
 *   walk     the headers of an ONNX model: every message and field of the graph, no contents
 * Prints its counts, so that the compiler cannot remove the work. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { BLOCK = 1 << 20, PAGE = 4096 };

struct span {
    const uint8_t *p, *end;
};

static void stop(const char *what)
{
    fprintf(stderr, "bare: %s\n", what);
    exit(1);
}

static int open_file(const char *path, size_t *size)
{
    struct stat st;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st))
        stop("the file cannot be read");
    *size = (size_t)st.st_size;
    return fd;
}

static struct span map(const char *path)
{
    size_t size;
    int fd = open_file(path, &size);
    const uint8_t *p = size ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
    if (p == MAP_FAILED)
        stop("the file cannot be mapped");
    close(fd);
    return (struct span){p, p ? p + size : p};
}

static uint64_t read_all(const char *path)
{
    static uint8_t buffer[BLOCK];
    size_t size;
    int fd = open_file(path, &size);
    uint64_t sum = 0;
    for (ssize_t n; (n = read(fd, buffer, sizeof(buffer))) > 0;)
        sum += (uint64_t)n + buffer[0];
    close(fd);
    return sum;
}

static uint64_t touch(const char *path)
{
    struct span f = map(path);
    uint64_t sum = 0;
    for (; f.p < f.end; f.p += f.end - f.p < PAGE ? f.end - f.p : PAGE)
        sum += *(const volatile uint8_t *)f.p;
    return sum;
}

static uint64_t find_lines(const char *path)
{
    struct span f = map(path);
    uint64_t lines = 0;
    while (f.p < f.end && (f.p = memchr(f.p, '\n', (size_t)(f.end - f.p)))) {
        lines++;
        f.p++;
    }
    return lines;
}

/* ---- JSON */
enum { OTHER, QUOTE, OPEN, CLOSE, NEXT };

#define EACH(byte) (0x0101010101010101u * (byte))
/* the high bit of every zero byte of x, and possibly of higher bytes */
#define ZEROS(x) (((x)-EACH(1)) & ~(x)&EACH(0x80))

/* past the quote that ends the string at p; eight bytes at a time */
static const uint8_t *string_end(const uint8_t *p, const uint8_t *end, uint64_t *escapes)
{
    for (;;) {
        while (end - p >= 8) {
            uint64_t w;
            memcpy(&w, p, sizeof(w));
            uint64_t hit = ZEROS(w ^ EACH((uint8_t)'"')) | ZEROS(w ^ EACH((uint8_t)'\\'));
            if (hit) {
                p += __builtin_ctzll(hit) / 8;
                break;
            }
            p += 8;
        }
        while (p < end && *p != '"' && *p != '\\')
            p++;
        if (p >= end)
            return end;
        if (*p == '"')
            return p + 1;
        ++*escapes;
        p = end - p > 2 ? p + 2 : end;
    }
}

static uint64_t scan_json(const char *path)
{
    static uint8_t class[256];
    class['"'] = QUOTE;
    class['{'] = class['['] = OPEN;
    class['}'] = class[']'] = CLOSE;
    class[','] = class[':'] = NEXT;
    struct span f = map(path);
    uint64_t strings = 0, escapes = 0, values = 0, depth = 0, deepest = 0;
    while (f.p < f.end) {
        switch (class[*f.p++]) {
        case QUOTE:
            strings++;
            f.p = string_end(f.p, f.end, &escapes);
            break;
        case OPEN:
            deepest = ++depth > deepest ? depth : deepest;
            break;
        case CLOSE:
            depth -= depth > 0;
            break;
        case NEXT:
            values++;
            break;
        default:
            while (f.p < f.end && class[*f.p] == OTHER)
                f.p++;
        }
    }
    if (depth)
        stop("the JSON text ends too early");
    return strings + escapes + values + deepest;
}

/* ---- zlib */
static uint64_t inflate_all(const char *path)
{
    static uint8_t out[BLOCK];
    struct span f = map(path);
    z_stream z = {.next_in = (Bytef *)(uintptr_t)f.p};
    uint64_t sum = 0;
    if (inflateInit2(&z, 15 + 16) != Z_OK)
        stop("zlib does not start");
    for (int rc = Z_OK; rc != Z_STREAM_END;) {
        size_t left = (size_t)(f.end - z.next_in);
        z.avail_in = (uInt)(left < BLOCK ? left : BLOCK);
        z.next_out = out;
        z.avail_out = sizeof(out);
        rc = inflate(&z, Z_NO_FLUSH);
        if (rc != Z_OK && rc != Z_STREAM_END)
            stop("the file is not a gzip file");
        sum += sizeof(out) - z.avail_out;
    }
    inflateEnd(&z);
    return sum;
}

/* ---- protobuf */
static uint64_t varint(struct span *s)
{
    uint64_t v = 0;
    for (unsigned shift = 0; s->p < s->end && shift < 64; shift += 7) {
        uint8_t b = *s->p++;
        v |= (uint64_t)(b & 127) << shift;
        if (b < 128)
            return v;
    }
    stop("the model is damaged");
    return 0;
}

static uint64_t skip(struct span *s, uint64_t n)
{
    if (n > (uint64_t)(s->end - s->p))
        stop("the model is damaged");
    s->p += n;
    return n;
}

/* nested messages: 7 graph of a model; 1 node, 5 initializer, 11, 12, 13 values of a graph */
static bool is_nested(unsigned level, uint64_t field)
{
    return level == 0 ? field == 7 : level == 1 && (field == 1 || field == 5 || (field >= 11 && field <= 13));
}

static uint64_t walk(struct span s, unsigned level)
{
    uint64_t fields = 0;
    while (s.p < s.end) {
        uint64_t tag = varint(&s), n;
        fields++;
        switch (tag & 7) {
        case 0:
            varint(&s);
            break;
        case 1:
            skip(&s, 8);
            break;
        case 5:
            skip(&s, 4);
            break;
        case 2:
            n = varint(&s);
            if (is_nested(level, tag >> 3) && n <= (uint64_t)(s.end - s.p))
                fields += walk((struct span){s.p, s.p + n}, level + 1);
            skip(&s, n);
            break;
        default:
            stop("the model is damaged");
        }
    }
    return fields;
}

static uint64_t walk_model(const char *path)
{
    return walk(map(path), 0);
}

static const struct {
    const char *name;
    uint64_t (*run)(const char *path);
} limit[] = {{"read", read_all},  {"touch", touch},         {"memchr", find_lines},
             {"json", scan_json}, {"inflate", inflate_all}, {"walk", walk_model}};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 3 && i < sizeof(limit) / sizeof(limit[0]); i++)
        if (strcmp(argv[1], limit[i].name) == 0)
            return printf("%" PRIu64 "\n", limit[i].run(argv[2])) < 0;
    fprintf(stderr, "usage: bare read|touch|memchr|json|inflate|walk FILE\n");
    return 2;
}
