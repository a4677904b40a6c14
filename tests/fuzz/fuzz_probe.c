/* Any bytes as a file without --format: the importer with the best probe reads it, as in the program. A file
 * that is not a profile is read as a model. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profile_checks.h"
#include "onnxcost/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void open_file(const char *path)
{
    const struct oc_profile_opts opts = {0};
    struct oc_profile *p = NULL;
    struct oc_err err = {0};
    enum oc_file_kind kind;
    if (oc_file_kind(path, &kind, &err) || kind != OC_FILE_PROFILE)
        return;
    if (oc_profile_open(path, &opts, &p, &err) == 0) {
        fuzz_check_profile(p);
        oc_profile_close(p);
    } else if (!err.msg[0]) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char path[64];
    int fd = memfd_create("profile", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, n) != (ssize_t)n)
        abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    open_file(path);
    close(fd);
    return 0;
}
