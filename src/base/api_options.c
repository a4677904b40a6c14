/* base/: What everything else is built on: arena, buffers, errors, files, maps, JSON, XML, numbers with
 * units. Nothing here depends on models or profiles. A change here rebuilds most files and needs a test in
 * tests/unit/base; what differs between platforms is in os.h alone.
 * Private to the folder: os_wasm.h os_win.h os_win_text.h. */

#include "base/c_locale.h"

#include <string.h>

#include "base/diag.h"

#define MOST_BYTES 65536 /* above any struct of options: the size was not set */

int oc_options_read(void *full, size_t bytes, const void *given, struct oc_err *err)
{
    const unsigned char *from = given;
    size_t size = 0;
    memset(full, 0, bytes);
    if (from)
        memcpy(&size, from, sizeof(size));
    if (size && (size < sizeof(size) || size > MOST_BYTES))
        return oc_fail(err, OC_EARG,
                       "size %zu of options is not possible; set it to sizeof, or the options to zero", size);
    if (from)
        memcpy(full, from, size && size < bytes ? size : bytes);
    memcpy(full, &bytes, sizeof(bytes));
    for (size_t i = bytes; i < size; i++)
        if (from[i])
            return oc_fail(
                err, OC_EARG,
                "options of a newer version are set, which this library (%zu of %zu bytes) does not have",
                bytes, size);
    return 0;
}
