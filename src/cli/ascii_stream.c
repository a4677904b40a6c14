#include "cli/ascii_stream.h"
#include "cli/xmem.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>

bool cli_locale_is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *value = NULL;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !(value && *value); i++)
        value = getenv(names[i]);
    for (const char *p = value; p && *p; p++)
        if (!strncasecmp(p, "utf8", 4) || !strncasecmp(p, "utf-8", 5))
            return true;
    return false;
}

struct range {
    unsigned from, to;
    const char *ascii;
};

/* In order of code points; what is in none of them is one question mark. */
static const struct range ranges[] = {
    {0xb5, 0xb5, "u"},       {0x300, 0x36f, ""},     {0x3bc, 0x3bc, "u"},    {0x1100, 0x115f, "??"},
    {0x200b, 0x200f, ""},    {0x2010, 0x2015, "-"},  {0x2018, 0x2019, "'"},  {0x201c, 0x201d, "\""},
    {0x2026, 0x2026, "~"},   {0x2500, 0x2501, "-"},  {0x2502, 0x2503, "|"},  {0x2504, 0x254f, "+"},
    {0x2550, 0x2550, "="},   {0x2551, 0x2551, "|"},  {0x2552, 0x257f, "+"},  {0x2580, 0x259f, "#"},
    {0x2e80, 0xa4cf, "??"},  {0xac00, 0xd7a3, "??"}, {0xf900, 0xfaff, "??"}, {0xfe00, 0xfe0f, ""},
    {0xfe30, 0xfe6f, "??"},  {0xff00, 0xff60, "??"}, {0xffe0, 0xffe6, "??"}, {0x1f300, 0x1faff, "??"},
    {0x20000, 0x3fffd, "??"}};

struct filter {
    FILE *to;
    unsigned code, missing; /* of the character that has begun, and how many bytes of it are to come */
};

static void put(struct filter *f)
{
    const char *ascii = "?";
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
        if (f->code >= ranges[i].from && f->code <= ranges[i].to)
            ascii = ranges[i].ascii;
    fputs(ascii, f->to);
}

static void take(struct filter *f, unsigned char c)
{
    if (f->missing && (c & 0xc0) == 0x80) {
        f->code = f->code << 6 | (c & 0x3f);
        if (--f->missing == 0)
            put(f);
        return;
    }
    if (f->missing) /* it was cut short */
        putc('?', f->to);
    f->missing = c >= 0xf0 && c < 0xf8 ? 3 : c >= 0xe0 && c < 0xf0 ? 2 : c >= 0xc0 && c < 0xe0 ? 1 : 0;
    f->code = f->missing ? c & (0x3fu >> f->missing) : 0;
    if (!f->missing)
        putc(c < 0x80 ? c : '?', f->to);
}

static ssize_t write_some(void *cookie, const char *text, size_t n)
{
    struct filter *f = cookie;
    for (size_t i = 0; i < n; i++)
        take(f, (unsigned char)text[i]);
    if (!fflush(f->to))
        return (ssize_t)n;
    errno = errno ? errno : EIO;
    return 0;
}

static int close_filter(void *cookie)
{
    free(cookie);
    return 0;
}

FILE *cli_ascii_stream(FILE *to)
{
    struct filter *f = cli_xcalloc(1, sizeof(*f));
    f->to = to;
    FILE *stream = fopencookie(f, "w", (cookie_io_functions_t){.write = write_some, .close = close_filter});
    if (!stream)
        cli_out_of_memory(0);
    return stream;
}
