/* Which files of a folder are models: a Hugging Face repository has one model in many files. */
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "fleet/model_files.h"

enum kind { NOTHING, CONFIG, INDEX, WEIGHTS, GGUF, N_KINDS };

static enum kind kind_of(const char *name)
{
    static const struct {
        const char *suffix;
        enum kind kind;
    } rows[] = {{".safetensors.index.json", INDEX}, {".safetensors", WEIGHTS}, {".gguf", GGUF}};
    size_t n = strlen(name);
    for (size_t i = 0; i < OC_COUNT(rows); i++) {
        size_t k = strlen(rows[i].suffix);
        if (n > k && !strcmp(name + n - k, rows[i].suffix))
            return rows[i].kind;
    }
    return strcmp(name, "config.json") ? NOTHING : CONFIG;
}

bool oc_may_describe(const char *name)
{
    return kind_of(name) != NOTHING;
}

/* "model-00002-of-00003.gguf": 2. 0: not a part of several. */
static unsigned part_number(const char *name)
{
    const char *of = strstr(name, "-of-");
    unsigned part = 0;
    if (!of || of - name < 6 || of[-6] != '-' || strspn(of + 4, "0123456789") != 5)
        return 0;
    for (const char *p = of - 5; p < of; p++) {
        if (*p < '0' || *p > '9')
            return 0;
        part = part * 10 + (unsigned)(*p - '0');
    }
    return part;
}

/* has: number of names of each kind. */
static bool is_chosen(const char *folder, const char *name, const size_t *has, bool has_onnx,
                      struct oc_arena *arena)
{
    unsigned part = part_number(name);
    const char *data;
    size_t n;
    switch (kind_of(name)) {
    case GGUF:
        return part <= 1;
    case INDEX:
        return true;
    case WEIGHTS:
        return part <= 1 && !(part && has[INDEX]);
    case CONFIG: /* any program may have a file of this name */
        return !has[INDEX] && !has[WEIGHTS] && !has[GGUF] && !has_onnx &&
               oc_file_peek(oc_printf(arena, "%s/%s", folder, name), OC_DESCRIBED_BYTES, arena, &data, &n,
                            NULL) == 0 &&
               oc_described_by(data, n) == OC_DESCRIBED_CONFIG;
    default:
        return false;
    }
}

size_t oc_choose_described(const char *folder, const char **name, size_t n, bool has_onnx,
                           struct oc_arena *arena)
{
    static const char *const whole[] = {"model.safetensors.index.json", "model.safetensors"};
    size_t has[N_KINDS] = {0}, chosen = 0;
    const char *one = NULL; /* the other weight files are variants and copies of it */
    for (size_t i = 0; i < n; i++)
        has[kind_of(name[i])]++;
    for (size_t k = 0; k < OC_COUNT(whole) && !one; k++)
        for (size_t i = 0; i < n; i++)
            one = strcmp(name[i], whole[k]) ? one : whole[k];
    for (size_t i = 0; i < n; i++) {
        enum kind kind = kind_of(name[i]);
        bool other = one && (kind == INDEX || kind == WEIGHTS) && strcmp(name[i], one) != 0;
        if (!other && is_chosen(folder, name[i], has, has_onnx, arena))
            name[chosen++] = name[i];
    }
    return chosen;
}
