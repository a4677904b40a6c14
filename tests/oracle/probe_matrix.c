/* Runs every probe on files: one line per file, `path <TAB> winner <TAB> bids`. The winner is an
 * importer, "model", "not a profile", or "TIE". Paths are printed relative to the first folder.
 *   probe_matrix FOLDER FILE... */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "profile/profile.h"
#include "onnxcost.h"
#include "onnxcost/profile.h"

#define PEEK_BYTES ((size_t)64 << 10)

static void print_bids(const char *path)
{
    struct oc_arena a = {0};
    const char *data;
    size_t n, count, skip, shown = 0;
    const struct oc_importer *const *importer = oc_importers(&count);
    if (oc_file_peek(path, PEEK_BYTES + 1, &a, &data, &n, NULL) != 0)
        return;
    struct oc_peek peek = {.path = path, .whole = n <= PEEK_BYTES};
    n = n > PEEK_BYTES ? PEEK_BYTES : n;
    skip = n >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (skip < n && isspace((unsigned char)data[skip]))
        skip++;
    peek.data = data + skip;
    peek.n = n - skip;
    for (size_t i = 0; i < count; i++) {
        struct oc_bid bid = {0};
        oc_importer_probe(importer[i], &peek, &bid);
        if (bid.score)
            printf("%s%s %d", shown++ ? ", " : "", importer[i]->name, bid.score);
    }
    oc_arena_free(&a);
}

static const char *winner_of(const char *path)
{
    struct oc_probed how;
    enum oc_file_kind kind;
    struct oc_model *model;
    struct oc_err err = {0};
    if (oc_profile_probe(path, NULL, &how, &err) == 0)
        return how.imp->name;
    if (strstr(err.msg, "name the format"))
        return "TIE";
    if (oc_file_kind(path, &kind, &err) == 0 && kind == OC_FILE_MODEL &&
        oc_model_load(path, NULL, &model, &err) == 0) {
        oc_model_free(model);
        return "model";
    }
    return "not a profile";
}

static int list_importers(void)
{
    size_t n;
    const struct oc_importer *const *importer = oc_importers(&n);
    for (size_t i = 0; i < n; i++)
        printf("%s\n", importer[i]->name);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--importers") == 0)
        return list_importers();
    if (argc < 3)
        return 2;
    size_t n = strlen(argv[1]);
    for (int i = 2; i < argc; i++) {
        const char *name = strncmp(argv[i], argv[1], n) == 0 && argv[i][n] == '/' ? argv[i] + n + 1 : argv[i];
        printf("%s\t%s\t", name, winner_of(argv[i]));
        print_bids(argv[i]);
        printf("\n");
    }
    return 0;
}
