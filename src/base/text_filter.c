/* Text as programs write it into files: encodings to UTF-8, and without prefixes of log lines. */
#include "base/file.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/arena.h"
#include "base/os.h"
#include "base/unicode.h"

#define PIECE_BYTES ((size_t)256 << 10) /* of the source, converted at a time */
#define LONG_LINE   ((size_t)1 << 20)   /* is passed on in pieces */
#define LOOK_LINES  64

/* ---- encoding --------------------------------------------------------------------------------------- */

enum oc_text_encoding oc_text_encoding(const void *src, size_t n)
{
    const unsigned char *p = src;
    if (n >= 2 && p[0] == 0xff && p[1] == 0xfe)
        return OC_TEXT_UTF16LE;
    if (n >= 2 && p[0] == 0xfe && p[1] == 0xff)
        return OC_TEXT_UTF16BE;
    if (n < 16)
        return OC_TEXT_BYTES;
    bool low = true, high = true;
    for (size_t i = 0; i < 16 && (low || high); i += 2) {
        low = low && p[i + 1] == 0 && (oc_is_space(p[i]) || (p[i] >= ' ' && p[i] < 0x7f));
        high = high && p[i] == 0 && (oc_is_space(p[i + 1]) || (p[i + 1] >= ' ' && p[i + 1] < 0x7f));
    }
    return low ? OC_TEXT_UTF16LE : high ? OC_TEXT_UTF16BE : OC_TEXT_BYTES;
}

/* ---- prefixes of log lines -------------------------------------------------------------------------- */

enum {
    PART_NONE,
    PART_TIME,
    PART_NAMED,
    PART_LEVEL,
    PART_BRACKET,
    PART_LABEL,
    PART_RANK,
    PART_TAG,
    PART_TAB,
    PART_DASH,
    PART_PROCESS,
    PART_SYSLOG,
    PART_GLOG,
    PART_PIPED,
    PART_PLACE,
    PART_LOGGER,
    PART_STREAM,
    PART_JSON
};

/* Matches text against a pattern: '0' a digit, 'T' a T or a blank, '-' a '-' or '/', others themselves. */
static size_t match(const char *s, size_t n, const char *pattern)
{
    size_t i = 0;
    for (; pattern[i]; i++) {
        if (i == n)
            return 0;
        char c = s[i], p = pattern[i];
        if (!(p == '0'   ? oc_is_digit(c)
              : p == 'T' ? c == 'T' || c == ' '
              : p == '-' ? c == '-' || c == '/'
                         : c == p))
            return 0;
    }
    return i;
}

/* "2024-05-01T10:00:00.123Z", "2024/05/01 10:00:00", "05-01 10:00:00.123", "10:00:00,123" */
static size_t time_length(const char *s, size_t n)
{
    static const char *const pattern[] = {"0000-00-00T00:00:00", "00-00T00:00:00", "00:00:00"};
    size_t i = 0;
    for (size_t k = 0; k < OC_COUNT(pattern) && !i; k++)
        i = match(s, n, pattern[k]);
    if (!i)
        return 0;
    if (i < n && (s[i] == '.' || s[i] == ','))
        for (i++; i < n && oc_is_digit(s[i]);)
            i++;
    if (i < n && s[i] == 'Z')
        return i + 1;
    size_t zone = 0;
    if (i < n && (s[i] == '+' || s[i] == '-'))
        zone = match(s + i + 1, n - i - 1, "00:00") ? 6 : match(s + i + 1, n - i - 1, "0000") ? 5 : 0;
    return i + zone;
}

static size_t word_length(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n && i < 64 && (oc_is_alnum((unsigned char)s[i]) || s[i] == '_' || s[i] == '.' || s[i] == '-'))
        i++;
    return i;
}

/* "INFO", "Warning" */
static size_t level_length(const char *s, size_t n)
{
    static const char *const level[] = {"TRACE",   "DEBUG", "INFO",  "NOTICE",  "WARN",
                                        "WARNING", "ERROR", "FATAL", "CRITICAL"};
    size_t k = 0;
    while (k < n && oc_is_alpha((unsigned char)s[k]))
        k++;
    for (size_t i = 0; i < OC_COUNT(level); i++)
        if (k == strlen(level[i]) && oc_ncasecmp(s, level[i], k) == 0)
            return k;
    return 0;
}

/* "INFO:root" */
static size_t named_length(const char *s, size_t n)
{
    size_t k = level_length(s, n);
    size_t name = k && k < n && s[k] == ':' ? word_length(s + k + 1, n - k - 1) : 0;
    return name && k + 1 + name < n && s[k + 1 + name] == ':' ? k + 1 + name : 0;
}

/* "[I]", "[2024-05-01 10:00:00]", "[1,0]<stdout>": not JSON. */
static size_t bracket_length(const char *s, size_t n)
{
    size_t i = 1;
    if (!n || s[0] != '[')
        return 0;
    while (i < n && i < 64 && s[i] != ']') {
        if (s[i] == '"' || s[i] == '{' || s[i] == '[')
            return 0;
        i++;
    }
    if (i == n || s[i] != ']' || i == 1)
        return 0;
    i++;
    if (i < n && s[i] == '<')
        for (; i < n && s[i - 1] != '>';)
            i++;
    return i < n && (s[i] == ' ' || s[i] == ':' || s[i] == '[') ? i : 0;
}

/* "service-1  |" */
static size_t label_length(const char *s, size_t n)
{
    size_t i = word_length(s, n), k = i;
    while (i && k < n && s[k] == ' ')
        k++;
    return i && k > i && k < n && s[k] == '|' ? k + 1 : 0;
}

/* "0:" of srun --label */
static size_t rank_length(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n && i < 6 && oc_is_digit(s[i]))
        i++;
    return i && i + 1 < n && s[i] == ':' && s[i + 1] == ' ' ? i + 1 : 0;
}

static size_t blanks(const char *s, size_t n, size_t i)
{
    while (i < n && s[i] == ' ')
        i++;
    return i;
}

static size_t digits(const char *s, size_t n, size_t i)
{
    while (i < n && oc_is_digit(s[i]))
        i++;
    return i;
}

/* Of Android's logcat, with the numbers of process and thread: "  217  2167 I tflite  :", "I/tflite  (  217):";
 * of RKNN: "D RKNN:". */
static size_t tag_length(const char *s, size_t n)
{
    size_t i = blanks(s, n, digits(s, n, blanks(s, n, digits(s, n, blanks(s, n, 0)))));
    if (i + 2 >= n || !s[i] || !strchr("VDIWEF", s[i]) || (s[i + 1] != ' ' && s[i + 1] != '/'))
        return 0;
    size_t word = word_length(s + i + 2, n - i - 2);
    i = blanks(s, n, i + 2 + word);
    if (i < n && s[i] == '(') {
        i = digits(s, n, blanks(s, n, i + 1));
        i += i < n && s[i] == ')';
    }
    return word && i < n && s[i] == ':' && (i + 1 == n || s[i + 1] == ' ') ? i : 0;
}

/* "job name<tab>step<tab>2024-05-01T.." */
static size_t tab_length(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n && i < 80 && s[i] != '\t')
        i++;
    if (!i || i == n || s[i] != '\t')
        return 0;
    size_t k = i + 1;
    while (k < n && k < i + 80 && s[k] != '\t')
        k++;
    return time_length(s + i + 1, n - i - 1) || (k < n && s[k] == '\t' && time_length(s + k + 1, n - k - 1))
               ? i
               : 0;
}

/* "- name -" */
static size_t dash_length(const char *s, size_t n)
{
    if (n < 3 || s[0] != '-' || s[1] != ' ')
        return 0;
    size_t k = word_length(s + 2, n - 2);
    return k && 2 + k + 2 < n && s[2 + k] == ' ' && s[3 + k] == '-' && s[4 + k] == ' ' ? 2 + k : 0;
}

/* "(WorkerDict pid=1234)", "(EngineCore_0 pid=12, ip=10.0.0.1)": Ray, vLLM */
static size_t process_length(const char *s, size_t n)
{
    const char *close = n && s[0] == '(' ? memchr(s, ')', n < 96 ? n : 96) : NULL;
    return close && oc_find(s, (size_t)(close - s), "pid=", 4) ? (size_t)(close - s) + 1 : 0;
}

/* "Jul 14 09:12:44 host program[123]:", also with a time in ISO 8601 before the host: syslog, journalctl */
static size_t syslog_length(const char *s, size_t n)
{
    size_t i = 0;
    if (n > 16 && oc_is_alpha((unsigned char)s[0]) && s[3] == ' ') {
        i = digits(s, n, blanks(s, n, 3));
        i = i < n && s[i] == ' ' && match(s + i + 1, n - i - 1, "00:00:00") ? i + 9 : 0;
    } else {
        i = time_length(s, n);
    }
    size_t host = i && i < n && s[i] == ' ' ? word_length(s + i + 1, n - i - 1) : 0;
    i += host ? host + 1 : n;
    size_t program = i < n && s[i] == ' ' ? word_length(s + i + 1, n - i - 1) : 0;
    i += program ? program + 1 : n;
    size_t end = i < n && s[i] == '[' ? digits(s, n, i + 1) : n;
    return end + 1 < n && end > i + 1 && s[end] == ']' && s[end + 1] == ':' ? end + 2 : 0;
}

/* "I0714 09:12:44.123456 1234 file.cc:88]": glog, absl */
static size_t glog_length(const char *s, size_t n)
{
    if (n < 16 || !strchr("DIWEF", s[0]) || !match(s + 1, n - 1, "0000 00:00:00"))
        return 0;
    const char *close = memchr(s, ']', n < 128 ? n : 128);
    return close && oc_is_digit(close[-1]) ? (size_t)(close - s) + 1 : 0;
}

/* "stdout F": the container runtime of Kubernetes, after the time */
static size_t stream_length(const char *s, size_t n)
{
    bool known = n >= 8 && (memcmp(s, "stdout ", 7) == 0 || memcmp(s, "stderr ", 7) == 0);
    return known && (s[7] == 'F' || s[7] == 'P') && (n == 8 || s[8] == ' ') ? 8 : 0;
}

/* "| INFO     |": loguru */
static size_t piped_length(const char *s, size_t n)
{
    size_t level = n > 2 && s[0] == '|' && s[1] == ' ' ? level_length(s + 2, n - 2) : 0;
    size_t i = level ? blanks(s, n, 2 + level) : n;
    return i < n && s[i] == '|' ? i + 1 : 0;
}

/* "module:function:12 -": loguru */
static size_t place_length(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n && i < 96 && s[i] != ' ' && s[i] != '\t')
        i++;
    const char *colon = i ? memrchr(s, ':', i) : NULL;
    size_t line = colon ? (size_t)(colon - s) + 1 : i;
    return line < i && digits(s, i, line) == i && i + 2 < n && s[i + 1] == '-' && s[i + 2] == ' ' ? i + 2 : 0;
}

/* "bench:" after a level, as Python's logging prints the name of the logger. */
static size_t logger_length(const char *s, size_t n)
{
    size_t i = word_length(s, n);
    return i && i < OC_LOG_LABEL && i + 1 < n && s[i] == ':' && s[i + 1] == ' ' ? i : 0;
}

/* Colors: "\033[36m" */
static size_t escapes(const char *s, size_t n)
{
    size_t i = 0, end;
    while (i + 2 < n && s[i] == '\033' && s[i + 1] == '[') {
        for (end = i + 2; end < n && (oc_is_digit(s[end]) || s[end] == ';');)
            end++;
        if (end == n || s[end] != 'm')
            break;
        i = end + 1;
    }
    return i;
}

static const struct {
    unsigned char part;
    size_t (*length)(const char *s, size_t n);
} parts[] = {{PART_SYSLOG, syslog_length}, {PART_GLOG, glog_length},   {PART_PROCESS, process_length},
             {PART_PIPED, piped_length},   {PART_PLACE, place_length}, {PART_TIME, time_length},
             {PART_NAMED, named_length},   {PART_LEVEL, level_length}, {PART_BRACKET, bracket_length},
             {PART_LABEL, label_length},   {PART_RANK, rank_length},   {PART_TAG, tag_length},
             {PART_TAB, tab_length},       {PART_DASH, dash_length},   {PART_STREAM, stream_length},
             {PART_LOGGER, logger_length}};

static size_t after_part(const char *s, size_t n, unsigned char part, size_t i)
{
    if (i < n && part != PART_LABEL && (s[i] == ':' || s[i] == '\t'))
        i++;
    return i < n && part != PART_NAMED && s[i] == ' ' ? i + 1 : i;
}

/* "[0]", "[1,0]", "[rank3]:", "3:", "app-1  |": the label in a part of n bytes; n 0: another text. */
static struct oc_str label_in(unsigned char part, const char *s, size_t n)
{
    static const char *const word[] = {"rank", "default"}; /* of torch.distributed, torchrun */
    size_t i = 1;
    if (part == PART_LABEL)
        return (struct oc_str){s, word_length(s, n)};
    if (part == PART_RANK)
        return (struct oc_str){s, n - 1};
    if (part == PART_PROCESS)
        return (struct oc_str){s, n};
    if (part != PART_BRACKET)
        return (struct oc_str){s, 0};
    for (size_t k = 0; k < OC_COUNT(word); k++)
        if (n > i + strlen(word[k]) && memcmp(s + 1, word[k], strlen(word[k])) == 0)
            i += strlen(word[k]);
    while (i < n && (oc_is_digit(s[i]) || s[i] == ','))
        i++;
    return (struct oc_str){s, i < n && s[i] == ']' && oc_is_digit(s[i - 1]) ? i + 1 : 0};
}

/* The name of a logger counts only if it is the same in all lines: other words before a colon are of the text. */
static bool takes_logger(const struct oc_log_prefix *out, const struct oc_log_prefix *want, const char *s,
                         size_t n)
{
    bool level = out->n && (out->part[out->n - 1] == PART_LEVEL || out->part[out->n - 1] == PART_BRACKET);
    return level && (!want || (strlen(want->logger) == n && memcmp(want->logger, s, n) == 0));
}

/* The length of the next part; 0: none. */
static size_t next_part(const char *s, size_t n, const struct oc_log_prefix *want, struct oc_log_prefix *out,
                        unsigned char *part)
{
    size_t k = 0;
    for (size_t i = 0; i < OC_COUNT(parts) && !k; i++) {
        *part = parts[i].part;
        k = !want || want->part[out->n] == *part ? parts[i].length(s, n) : 0;
        if (k && *part == PART_LOGGER && !takes_logger(out, want, s, k))
            k = 0;
    }
    if (k && s && *part == PART_LOGGER) {
        memcpy(out->logger, s, k);
        out->logger[k] = '\0';
    }
    bool dash = !k && out->n && n > 1 && s[0] == '-' && s[1] == ' ';
    if (dash && (!want || want->part[out->n] == PART_DASH)) {
        *part = PART_DASH;
        k = 1;
    }
    return k;
}

/* Where the text of a line begins after the parts; *out: the parts found and the first label. With `want`: only
 * these. */
static size_t prefix_length(const char *s, size_t n, const struct oc_log_prefix *want,
                            struct oc_log_prefix *out)
{
    size_t at = 0;
    out->label[0] = out->logger[0] = '\0';
    while (out->n < (want ? want->n : OC_LOG_PARTS)) {
        unsigned char part = PART_NONE;
        size_t from = at + escapes(s + at, n - at);
        size_t k = next_part(s + from, n - from, want, out, &part);
        if (!k)
            break;
        struct oc_str label = label_in(part, s + from, k);
        if (label.s && label.n && label.n < OC_LOG_LABEL && !out->label[0]) {
            memcpy(out->label, label.s, label.n);
            out->label[label.n] = '\0';
        }
        at = from + k;
        at += escapes(s + at, n - at);
        at = after_part(s, n, part, at);
        out->part[out->n++] = part;
    }
    return at;
}

/* ---- lines of Docker's json-file driver: {"log":"text\n","stream":"stdout","time":"..."} ------------------ */

static bool is_json_line(struct oc_str line)
{
    return oc_str_starts(line, "{\"log\":\"") || oc_str_starts(line, "{\"log\": \"");
}

static uint32_t hex4(const char *s)
{
    uint32_t v = 0;
    for (unsigned i = 0; i < 4; i++) {
        int c = s[i] | 32;
        if (!oc_is_digit(s[i]) && !(c >= 'a' && c <= 'f'))
            return UINT32_MAX;
        v = v * 16 + (uint32_t)(oc_is_digit(s[i]) ? s[i] - '0' : c - 'a' + 10);
    }
    return v;
}

/* The text of the member; the end of its line goes. A damaged line is the text up to there. */
static void json_text(struct oc_str line, struct oc_buf *out)
{
    static const char plain[] = "\"\\/bfnrt", value[] = "\"\\/\b\f\n\r\t";
    const char *p = line.s + (line.s[7] == ' ' ? 9 : 8), *end = line.s + line.n;
    oc_buf_clear(out);
    while (p < end && *p != '"') {
        const char *at = *p == '\\' && p + 1 < end ? strchr(plain, p[1]) : NULL;
        uint32_t cp = *p == '\\' && end - p > 6 && p[1] == 'u' ? hex4(p + 2) : UINT32_MAX;
        char utf8[4];
        if (cp != UINT32_MAX) {
            oc_buf_add(out, utf8, oc_utf8_put(utf8, cp >= 0xd800 && cp < 0xe000 ? 0xfffd : cp));
            p += 6;
        } else {
            oc_buf_char(out, (char)(at && *at ? value[at - plain] : *p));
            p += at && *at ? 2 : 1;
        }
    }
    while (out->n && (out->data[out->n - 1] == '\n' || out->data[out->n - 1] == '\r'))
        out->n--;
}

/* The parts of a line; *text: what follows them. `unpacked` holds the text of a line of JSON. */
static void split_line(struct oc_str line, const struct oc_log_prefix *want, struct oc_log_prefix *out,
                       struct oc_buf *unpacked, struct oc_str *text)
{
    *out = (struct oc_log_prefix){.n = 0};
    *text = line;
    bool json = is_json_line(line) && (!want || (want->n && want->part[0] == PART_JSON));
    if (json) {
        json_text(line, unpacked);
        *text = (struct oc_str){unpacked->n ? unpacked->data : "", unpacked->n};
        out->part[out->n++] = PART_JSON;
    }
    *text = oc_str_skip(*text, prefix_length(text->s, text->n, want, out));
}

static const char *line_end(const char *s, const char *end)
{
    const char *lf = s < end ? memchr(s, '\n', (size_t)(end - s)) : NULL;
    return lf ? lf : end;
}

static bool same_prefix(const struct oc_log_prefix *a, const struct oc_log_prefix *b)
{
    return a->n == b->n && memcmp(a->part, b->part, a->n) == 0 && strcmp(a->logger, b->logger) == 0;
}

/* Names of loggers that most lines do not share are not part of a prefix. */
static void drop_names(struct oc_log_prefix *seen, size_t lines)
{
    for (size_t i = 0; i < lines; i++) {
        size_t same = 0;
        for (size_t k = 0; k < lines; k++)
            same += strcmp(seen[i].logger, seen[k].logger) == 0;
        if (seen[i].logger[0] && 2 * same > lines)
            return;
    }
    for (size_t i = 0; i < lines; i++)
        for (unsigned k = 0; k < seen[i].n; k++)
            if (seen[i].part[k] == PART_LOGGER) {
                seen[i].n = k;
                seen[i].logger[0] = '\0';
            }
}

void oc_log_prefix_of(const char *text, size_t n, struct oc_log_prefix *out)
{
    struct oc_log_prefix seen[LOOK_LINES];
    struct oc_buf unpacked = {0};
    struct oc_str rest;
    size_t lines = 0, best = 0;
    *out = (struct oc_log_prefix){.n = 0};
    for (const char *s = text, *end = text + n; s < end && lines < LOOK_LINES;) {
        const char *stop = line_end(s, end);
        if (stop > s + 1)
            split_line(oc_str(s, (size_t)(stop - s)), NULL, &seen[lines++], &unpacked, &rest);
        lines -= lines && seen[lines - 1].n == 1 && seen[lines - 1].part[0] == PART_JSON &&
                 !rest.n; /* an empty line */
        s = stop + 1;
    }
    oc_buf_free(&unpacked);
    drop_names(seen, lines);
    for (size_t i = 0; i < lines; i++) {
        size_t same = 0;
        for (size_t k = 0; k < lines; k++)
            same += same_prefix(&seen[i], &seen[k]);
        if (same > best && 2 * same > lines) {
            best = same;
            *out = seen[i];
        }
    }
    out->label[0] = '\0';
}

size_t oc_log_labels(const char *text, size_t n, const struct oc_log_prefix *prefix,
                     char label[OC_LOG_LABELS][OC_LOG_LABEL])
{
    size_t lines = 0, found = 0;
    struct oc_buf unpacked = {0};
    for (const char *s = text, *end = text + n, *stop; s < end; s = stop + 1) {
        struct oc_log_prefix of;
        struct oc_str rest;
        stop = line_end(s, end);
        split_line(oc_str(s, (size_t)(stop - s)), prefix, &of, &unpacked, &rest);
        if (of.n != prefix->n || !of.label[0])
            continue;
        size_t i = 0;
        while (i < found && strcmp(label[i], of.label) != 0)
            i++;
        if (i < OC_LOG_LABELS && i == found)
            memcpy(label[found++], of.label, sizeof(of.label));
        lines = i < OC_LOG_LABELS ? lines + 1 : 0;
        if (!lines)
            break;
    }
    oc_buf_free(&unpacked);
    return lines >= 3 * found ? found : 0;
}

/* ---- the filter ------------------------------------------------------------------------------------- */

struct oc_text_filter {
    const unsigned char *src;
    size_t n, at;
    enum oc_text_encoding encoding;
    struct oc_log_prefix prefix;
    struct oc_buf unpacked; /* the text of a line of JSON */
    struct oc_buf line;     /* an incomplete line whose prefix is not yet removed */
    struct oc_buf out;
};

struct oc_text_filter *oc_text_filter_open(const void *src, size_t n, enum oc_text_encoding encoding,
                                           const struct oc_log_prefix *prefix)
{
    struct oc_text_filter *f = oc_xmalloc(sizeof(*f));
    *f = (struct oc_text_filter){.src = src, .n = n, .encoding = encoding};
    if (prefix)
        f->prefix = *prefix;
    return f;
}

void oc_text_filter_close(struct oc_text_filter *f)
{
    if (!f)
        return;
    oc_buf_free(&f->line);
    oc_buf_free(&f->unpacked);
    oc_buf_free(&f->out);
    free(f);
}

static uint32_t unit_at(const struct oc_text_filter *f, size_t at)
{
    const unsigned char *p = f->src + at;
    return f->encoding == OC_TEXT_UTF16LE ? (uint32_t)p[0] | (uint32_t)p[1] << 8
                                          : (uint32_t)p[1] | (uint32_t)p[0] << 8;
}

/* One code point; an unpaired surrogate becomes U+FFFD. */
static void decode_one(struct oc_text_filter *f, struct oc_buf *to)
{
    char utf8[4];
    uint32_t cp = unit_at(f, f->at);
    bool first = f->at == 0;
    f->at += 2;
    if (cp >= 0xd800 && cp < 0xdc00 && f->at + 2 <= f->n) {
        uint32_t low = unit_at(f, f->at);
        if (low >= 0xdc00 && low < 0xe000) {
            cp = 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00);
            f->at += 2;
        }
    }
    if (cp >= 0xd800 && cp < 0xe000)
        cp = 0xfffd;
    if (!(first && cp == 0xfeff))
        oc_buf_add(to, utf8, oc_utf8_put(utf8, cp));
}

static void text_filter_decode(struct oc_text_filter *f, struct oc_buf *to)
{
    size_t end = f->n - f->at > PIECE_BYTES ? f->at + PIECE_BYTES : f->n;
    oc_os_need(f->src + f->at, end - f->at);
    if (f->encoding == OC_TEXT_BYTES) {
        oc_buf_add(to, (const char *)f->src + f->at, end - f->at);
        f->at = end;
        return;
    }
    while (f->at + 2 <= end)
        decode_one(f, to);
    if (f->n - f->at < 2)
        f->at = f->n;
}

/* Moves complete lines, without their prefix, to the window; at the end of the source also the last one. */
static void move_lines(struct oc_text_filter *f)
{
    const char *s = f->line.data, *end = s + f->line.n;
    while (s < end) {
        const char *stop = line_end(s, end);
        if (stop == end && f->at < f->n && end - s < (ptrdiff_t)LONG_LINE)
            break;
        struct oc_log_prefix found;
        struct oc_str line = oc_str(s, (size_t)(stop - s)), text;
        split_line(line, &f->prefix, &found, &f->unpacked, &text);
        if (found.n != f->prefix.n && !(found.n && found.part[0] == PART_JSON))
            text = line;
        if (found.n != f->prefix.n || !f->prefix.label[0] || strcmp(found.label, f->prefix.label) == 0) {
            oc_buf_add(&f->out, text.s, text.n);
            if (stop < end)
                oc_buf_char(&f->out, '\n');
        }
        stop += stop < end;
        s = stop;
    }
    size_t left = (size_t)(end - s);
    if (left)
        memmove(f->line.data, s, left);
    f->line.n = left;
}

bool oc_text_filter_more(struct oc_text_filter *f, size_t used, bool add, const char **data, size_t *n)
{
    used = used < f->out.n ? used : f->out.n;
    if (used) {
        memmove(f->out.data, f->out.data + used, f->out.n - used);
        f->out.n -= used;
    }
    size_t had = f->out.n;
    while (add && f->at < f->n && f->out.n == had) {
        text_filter_decode(f, f->prefix.n ? &f->line : &f->out);
        if (f->prefix.n && f->line.n)
            move_lines(f);
    }
    *data = f->out.n ? f->out.data : "";
    *n = f->out.n;
    return f->out.n > had;
}

size_t oc_text_filter_taken(const struct oc_text_filter *f)
{
    return f->at;
}
