/* Prefixes that logging tools put before every line. A prefix is a sequence of known parts (a time, a level, a label of a
 * process); where no part is known, the form that all lines begin with: the same characters, digits for digits. All lines
 * of a log have the same prefix; a line without it is passed on as it is. */
#include "base/log_prefix.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/log_json.h"

#define LOOK_LINES 64

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
    PART_JSON,
    PART_FORM,
    PART_SOURCE
};

/* Matches text against a pattern: '0' a digit, 'T' a T, a blank or a '-', '-' a '-' or '/', others themselves. */
static size_t match(const char *s, size_t n, const char *pattern)
{
    size_t i = 0;
    for (; pattern[i]; i++) {
        if (i == n)
            return 0;
        char c = s[i], p = pattern[i];
        if (!(p == '0'   ? oc_is_digit(c)
              : p == 'T' ? c == 'T' || c == ' ' || c == '-'
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

/* "ppocr INFO" */
static size_t source_length(const char *s, size_t n)
{
    size_t first = word_length(s, n);
    size_t level = first && first + 1 < n && s[first] == ' ' ? level_length(s + first + 1, n - first - 1) : 0;
    return level && first + 1 + level < n && s[first + 1 + level] == ':' ? first + 1 + level : 0;
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

/* "rank", "Rank ", "rank=", "default" before the number of a process */
static size_t rank_word(const char *s, size_t n)
{
    static const char *const word[] = {"rank", "default"}; /* of torch.distributed, torchrun */
    for (size_t k = 0; k < OC_COUNT(word); k++) {
        size_t i = strlen(word[k]);
        if (n > i && oc_ncasecmp(s, word[k], i) == 0)
            return i + (s[i] == ' ' || s[i] == '=');
    }
    return 0;
}

/* "0:" of srun --label, "Rank 0:" */
static size_t rank_length(const char *s, size_t n)
{
    size_t i = rank_word(s, n), first = i;
    while (i < n && i < first + 6 && oc_is_digit(s[i]))
        i++;
    return i > first && i + 1 < n && s[i] == ':' && s[i + 1] == ' ' ? i + 1 : 0;
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

/* "(WorkerDict pid=1234)", "(EngineCore_0 pid=12, ip=10.0.0.1)": Ray, vLLM; "ME(123:140,MainProcess)": MindSpore */
static size_t process_length(const char *s, size_t n)
{
    size_t end = n > 4 && memcmp(s, "ME(", 3) == 0 ? digits(s, n, 3) : n;
    const char *me = end < n && end > 3 && s[end] == ':' ? memchr(s, ')', n < 96 ? n : 96) : NULL;
    if (me)
        return (size_t)(me - s) + 1;
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

static const struct {
    unsigned char part;
    size_t (*length)(const char *s, size_t n);
} parts[] = {{PART_SYSLOG, syslog_length},   {PART_GLOG, glog_length},     {PART_PROCESS, process_length},
             {PART_PIPED, piped_length},     {PART_PLACE, place_length},   {PART_TIME, time_length},
             {PART_NAMED, named_length},     {PART_SOURCE, source_length}, {PART_LEVEL, level_length},
             {PART_BRACKET, bracket_length}, {PART_LABEL, label_length},   {PART_RANK, rank_length},
             {PART_TAG, tag_length},         {PART_TAB, tab_length},       {PART_DASH, dash_length},
             {PART_STREAM, stream_length},   {PART_LOGGER, logger_length}};

static size_t after_part(const char *s, size_t n, unsigned char part, size_t i)
{
    if (i < n && part != PART_LABEL && (s[i] == ':' || s[i] == '\t'))
        i++;
    return i < n && part != PART_NAMED && s[i] == ' ' ? i + 1 : i;
}

/* "[0]", "[1,0]", "[rank3]:", "3:", "app-1  |": the label in a part of n bytes; n 0: another text. */
static struct oc_str label_in(unsigned char part, const char *s, size_t n)
{
    size_t i = 1;
    if (part == PART_LABEL)
        return (struct oc_str){s, word_length(s, n)};
    if (part == PART_RANK)
        return (struct oc_str){s, n - 1};
    if (part == PART_PROCESS)
        return (struct oc_str){s, n};
    if (part != PART_BRACKET)
        return (struct oc_str){s, 0};
    size_t time = time_length(s + 1, n - 1), close = (size_t)((const char *)memchr(s, ']', n) - s);
    if (time && s[1 + time] == ' ' && oc_is_digit(s[close - 1])) /* "[2024-05-01 10:00:00 DP0 TP1]": SGLang */
        return (struct oc_str){s + time + 2, close - time - 2};
    if (n > 5 && memcmp(s, "[pod/", 5) == 0)
        return (struct oc_str){s, n};
    i += n > 7 && memcmp(s, "[Local ", 7) == 0 ? 6 : 0;
    i += rank_word(s + i, n - i);
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
    while (out->n < (want ? want->n : OC_LOG_PARTS)) {
        unsigned char part = PART_NONE;
        size_t k = next_part(s + at, n - at, want, out, &part);
        if (!k)
            break;
        struct oc_str label = label_in(part, s + at, k);
        if (label.s && label.n && label.n < OC_LOG_LABEL && !out->label[0]) {
            memcpy(out->label, label.s, label.n);
            out->label[label.n] = '\0';
        }
        at = after_part(s, n, part, at + k);
        out->part[out->n++] = part;
    }
    return at;
}

/* ---- colors ------------------------------------------------------------------------------------------- */

/* Removes colors: "\033[36m". In place; returns the new length. */
static size_t remove_colors(char *s, size_t n)
{
    size_t kept = 0, end;
    for (size_t i = 0; i < n;) {
        for (end = i + 2; s[i] == '\033' && end < n && (oc_is_digit(s[end]) || s[end] == ';');)
            end++;
        if (s[i] == '\033' && end < n && s[i + 1] == '[' && s[end] == 'm')
            i = end + 1;
        else
            s[kept++] = s[i++];
    }
    return kept;
}

/* ---- the form of a prefix of no known parts ---------------------------------------------------------- */

/* Blanks before a form do not count: a list of numbered lines may have them.
 * The next sign of a form: '0' for digits, ' ' for blanks, any other character for itself. Moves *at after it. */
static char next_sign(const char *s, size_t n, size_t *at)
{
    char c = s[*at];
    bool digit = oc_is_digit(c);
    ++*at;
    while (*at < n && ((digit && oc_is_digit(s[*at])) || (c == ' ' && s[*at] == ' ')))
        ++*at;
    if (digit)
        c = '0';
    return c;
}

/* The length of the prefix of a line with the form; of blanks at its end only as many as all lines have. SIZE_MAX: another
 * line. A line that ends in the form has only blanks less. */
static size_t form_length(const struct oc_log_prefix *p, const char *s, size_t n)
{
    size_t at = blanks(s, n, 0), before = 0, signs = strlen(p->form);
    for (size_t i = 0; i < signs; i++) {
        before = at;
        if (at == n)
            return p->form[i] == ' ' && i + 1 == signs ? n : SIZE_MAX;
        if (next_sign(s, n, &at) != p->form[i])
            return SIZE_MAX;
    }
    return signs && p->form[signs - 1] == ' ' && at - before > p->blanks ? before + p->blanks : at;
}

/* ---- a line ------------------------------------------------------------------------------------------ */

static size_t known_length(const char *s, size_t n, const struct oc_log_prefix *want,
                           struct oc_log_prefix *out)
{
    if (!want || !want->n || want->part[0] != PART_FORM)
        return prefix_length(s, n, want, out);
    size_t k = form_length(want, s, n);
    if (k == SIZE_MAX)
        return 0;
    out->part[out->n++] = PART_FORM;
    return k;
}

void oc_log_split(struct oc_str line, const struct oc_log_prefix *want, bool colors,
                  struct oc_log_prefix *out, struct oc_buf *unpacked, struct oc_str *text)
{
    bool packed = !want || (want->n && want->part[0] == PART_JSON);
    const char *log = packed ? oc_log_json(line) : NULL;
    *out = (struct oc_log_prefix){.n = 0, .colors = colors};
    *text = line;
    if (log) {
        oc_log_json_text(log, line.s + line.n, unpacked);
        out->part[out->n++] = PART_JSON;
    } else if (colors) {
        oc_buf_clear(unpacked);
        oc_buf_add(unpacked, line.s, line.n);
    }
    if (colors && unpacked->n)
        unpacked->n = remove_colors(unpacked->data, unpacked->n);
    if (log || colors)
        *text = (struct oc_str){unpacked->n ? unpacked->data : "", unpacked->n};
    size_t skip = known_length(text->s, text->n, want, out);
    if (!want || want->n == out->n)
        *text = oc_str_skip(*text, skip);
}

const char *oc_line_end(const char *s, const char *end)
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
    bool colors = oc_find(text, n, "\033[", 2) || oc_find(text, n, "\\u001b[", 7);
    *out = (struct oc_log_prefix){.n = 0, .colors = colors};
    for (const char *s = text, *end = text + n; s < end && lines < LOOK_LINES;) {
        const char *stop = oc_line_end(s, end);
        if (stop > s + 1)
            oc_log_split(oc_str(s, (size_t)(stop - s)), NULL, colors, &seen[lines++], &unpacked, &rest);
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
        stop = oc_line_end(s, end);
        oc_log_split(oc_str(s, (size_t)(stop - s)), prefix, prefix->colors, &of, &unpacked, &rest);
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

/* ---- the form that lines share ----------------------------------------------------------------------- */

struct signs {
    const char *s;
    size_t n;
    char form[OC_LOG_FORM]; /* its first signs */
};

static size_t first_lines(const char *text, size_t n, struct signs *line)
{
    size_t lines = 0;
    for (const char *s = text, *end = text + n, *stop; s < end && lines < LOOK_LINES; s = stop + 1) {
        stop = oc_line_end(s, end);
        struct signs x = {.s = s, .n = (size_t)(stop - s)};
        x.n -= x.n && s[x.n - 1] == '\r';
        for (size_t at = blanks(x.s, x.n, 0), k = 0; at < x.n && k + 1 < OC_LOG_FORM;)
            x.form[k++] = next_sign(x.s, x.n, &at);
        if (x.n)
            line[lines++] = x;
    }
    return lines;
}

static size_t common(const char *a, const char *b)
{
    size_t i = 0;
    while (a[i] && a[i] == b[i])
        i++;
    return i + (!b[i] && a[i] == ' '); /* a line without text lost its last blank */
}

/* The longest form that begins as many lines as `least`; its length is 0 if they share none. */
static size_t longest_form(const struct signs *line, size_t n, size_t least, size_t *of)
{
    size_t best = 0;
    for (size_t i = 0; i < n; i++) {
        size_t shares[OC_LOG_FORM + 1] = {0}, k = OC_LOG_FORM, more = 0;
        for (size_t j = 0; j < n; j++)
            shares[common(line[i].form, line[j].form)]++;
        while (k && more + shares[k] < least)
            more += shares[k--];
        if (k > best) {
            best = k;
            *of = i;
        }
    }
    return best;
}

/* The length of the form without the begin of what follows it: it ends in a blank or tab, else in one of these signs. */
static size_t whole_form(const char *form, size_t n)
{
    static const char *const last[] = {" \t", ":|>#+$%"};
    for (size_t i = 0; i < OC_COUNT(last); i++)
        for (size_t k = n; k; k--)
            if (strchr(last[i], form[k - 1]))
                return k;
    return 0;
}

bool oc_log_form_of(const char *text, size_t n, unsigned percent, struct oc_log_prefix *out)
{
    struct signs *line = oc_xcalloc(LOOK_LINES, sizeof(*line));
    size_t lines = first_lines(text, n, line), of = 0;
    size_t signs = lines < 3 ? 0 : longest_form(line, lines, (lines * percent + 99) / 100, &of);
    signs = whole_form(line[of].form, signs);
    *out = (struct oc_log_prefix){.n = 1, .part = {PART_FORM}};
    memcpy(out->form, line[of].form, signs);
    out->blanks = SIZE_MAX;
    for (size_t i = 0; i < lines && signs; i++) {
        size_t at = blanks(line[i].s, line[i].n, 0), before = 0, k = 0;
        for (; k < signs && at < line[i].n && next_sign(line[i].s, line[i].n, &at) == out->form[k]; k++)
            before = k + 1 < signs ? at : before;
        if (k == signs && at - before < out->blanks)
            out->blanks = at - before;
    }
    free(line);
    return signs;
}
