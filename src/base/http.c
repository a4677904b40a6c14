/* Files of web servers: what a server says, URLs, and range requests with libcurl. */
#include "base/file.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/arena.h"
#include "base/c_locale.h"
#include "base/diag.h"
#include "base/os.h"
#include "base/str.h"
#include "onnxcost.h"

/* ---- answers ---------------------------------------------------------------------------------------- */

static struct oc_str trim(struct oc_str s)
{
    while (s.n && strchr(" \t\r\n", s.s[s.n - 1]) && s.s[s.n - 1])
        s.n--;
    while (s.n && (*s.s == ' ' || *s.s == '\t')) {
        s.s++;
        s.n--;
    }
    return s;
}

/* A number at the start, which is removed. False: none, or too large. */
static bool take_number(struct oc_str *s, uint64_t *out)
{
    size_t i = 0;
    for (*out = 0; i < s->n && oc_is_digit(s->s[i]); i++)
        if (__builtin_mul_overflow(*out, 10, out) ||
            __builtin_add_overflow(*out, (uint64_t)(s->s[i] - '0'), out))
            return false;
    s->s += i;
    s->n -= i;
    return i > 0;
}

static bool take_char(struct oc_str *s, char c)
{
    if (!s->n || *s->s != c)
        return false;
    s->s++;
    s->n--;
    return true;
}

/* "bytes 0-99/1000"; the total may be '*', and of an empty file the range too. */
static void take_range(struct oc_http_answer *a, struct oc_str s)
{
    if (s.n < 6 || oc_ncasecmp(s.s, "bytes ", 6) != 0)
        return;
    s = trim(oc_str(s.s + 6, s.n - 6));
    bool range = !take_char(&s, '*');
    if (range && (!take_number(&s, &a->from) || !take_char(&s, '-') || !take_number(&s, &a->last)))
        return;
    if (!take_char(&s, '/'))
        return;
    a->has_total = take_number(&s, &a->total) && !s.n;
    a->has_range = range && a->from <= a->last && (!a->has_total || a->last < a->total);
}

static bool is_name(struct oc_str s, const char *name)
{
    return s.s && s.n == strlen(name) && oc_ncasecmp(s.s, name, s.n) == 0;
}

void oc_http_line(struct oc_http_answer *a, const char *line, size_t n)
{
    struct oc_str s = trim(oc_str(line, n));
    if (s.n > 9 && !memcmp(s.s, "HTTP/", 5)) {
        const char *blank = memchr(s.s, ' ', s.n);
        uint64_t status = 0;
        struct oc_str rest = blank ? trim(oc_str(blank, (size_t)(s.s + s.n - blank))) : oc_str("", 0);
        *a = (struct oc_http_answer){0};
        a->status = take_number(&rest, &status) && status < 1000 ? (unsigned)status : 0;
        return;
    }
    const char *colon = memchr(s.s ? s.s : "", ':', s.n);
    if (!colon)
        return;
    struct oc_str key = oc_str(s.s, (size_t)(colon - s.s)), value = trim(oc_str(colon + 1, s.n - key.n - 1));
    if (is_name(key, "content-range"))
        take_range(a, value);
    else if (is_name(key, "content-length"))
        a->has_length = take_number(&value, &a->length) && !value.n;
    else if (is_name(key, "content-encoding"))
        a->compressed = value.n && !is_name(value, "identity");
    else if (is_name(key, "etag") && value.n < sizeof(a->tag))
        snprintf(a->tag, sizeof(a->tag), "%.*s", (int)value.n, value.s);
}

static int fail_status(unsigned status, struct oc_err *err)
{
    switch (status) {
    case 401:
    case 403:
        return oc_fail(err, OC_EIO,
                       "the server refuses it (%u): private, or accepted terms are needed; download it",
                       status);
    case 404:
    case 410:
        return oc_fail(err, OC_EIO, "the server has no such file (%u)", status);
    case 429:
        return oc_fail(err, OC_EIO, "the server has had too many requests (429): wait, or download it");
    default:
        return oc_fail(err, OC_EIO, "the server answers with status %u", status);
    }
}

int oc_http_check(const struct oc_http_answer *a, uint64_t from, uint64_t n, uint64_t size, const char *tag,
                  bool *whole, struct oc_err *err)
{
    *whole = a->status == 200 || (a->status == 416 && from == 0 && a->has_total && !a->total);
    if (!*whole && a->status != 206)
        return fail_status(a->status, err);
    if (a->compressed)
        return oc_fail(err, OC_EIO,
                       "the server compresses it, so that no part can be read alone: download it");
    if (*whole)
        return size == UINT64_MAX
                   ? 0
                   : oc_fail(err, OC_EIO,
                             "the server sends the whole file after it has sent a part: try again");
    if (!a->has_range || !a->has_total)
        return oc_fail(err, OC_EFORMAT, "the server does not say which part of the file it sends");
    if ((size != UINT64_MAX && a->total != size) || (tag && *tag && *a->tag && strcmp(tag, a->tag) != 0))
        return oc_fail(err, OC_EIO, "the file changed on the server while it was read: try again");
    uint64_t end = n < a->total - a->from ? from + n : a->total;
    if (a->from != from || a->last + 1 != end)
        return oc_fail(err, OC_EFORMAT,
                       "the server sends bytes %" PRIu64 " to %" PRIu64 " for a request of %" PRIu64
                       " from %" PRIu64,
                       a->from, a->last, n, from);
    return 0;
}

/* ---- URLs ------------------------------------------------------------------------------------------- */

bool oc_http_is_url(const char *path)
{
    return !strncmp(path, "https://", 8) || !strncmp(path, "http://", 7) || !strncmp(path, "hf:", 3);
}

/* Appends a path; characters with a meaning in URLs are escaped. False: no room. */
static bool add_path(char *out, size_t cap, const char *name, size_t n)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    size_t at = strlen(out);
    for (size_t i = 0; i < n; i++) {
        if (at + 4 > cap)
            return false;
        at += (size_t)snprintf(out + at, cap - at, strchr(plain, name[i]) ? "%c" : "%%%02X",
                               (unsigned char)name[i]);
    }
    return true;
}

bool oc_http_beside(const char *url, const char *name, char *out, size_t cap)
{
    size_t n = strcspn(url, "?#");
    while (n && url[n - 1] != '/')
        n--;
    return snprintf(out, cap, "%.*s", (int)n, url) < (int)cap && add_path(out, cap, name, strlen(name));
}

bool oc_http_hub(const char *text, const char *endpoint, const char *file, char *out, size_t cap)
{
    if (strncmp(text, "hf:", 3) != 0)
        return false;
    const char *name = text + 3, *slash = strchr(name, '/');
    size_t n = slash ? (size_t)(slash - name) + 1 : 0, all = n ? n + strcspn(slash + 1, "/") : 0;
    const char *at = memchr(name, '@', all), *inner = name[all] ? name + all + 1 : file;
    size_t id = at ? (size_t)(at - name) : all, end = strlen(endpoint);
    while (end && endpoint[end - 1] == '/')
        end--;
    if (n < 2 || id <= n || !*inner || strstr(name, "..") || end + 1 >= cap)
        return false;
    snprintf(out, cap, "%.*s/", (int)end, endpoint);
    return add_path(out, cap, name, id) && add_path(out, cap, "/resolve/", 9) &&
           add_path(out, cap, at ? at + 1 : "main", at ? (size_t)(name + all - at - 1) : 4) &&
           add_path(out, cap, "/", 1) && add_path(out, cap, inner, strlen(inner));
}

/* ---- range requests ----------------------------------------------------------------------------------- */

#if defined(__EMSCRIPTEN__) || !__has_include("curl/curl.h")
int oc_remote_map(const char *url, const struct oc_input_limits *limits, struct oc_file *out, bool *missing,
                  struct oc_err *err)
{
    (void)url;
    (void)limits;
    (void)out;
    (void)missing;
    return oc_fail(err, OC_ELIBRARY,
                   "URLs are not read in WebAssembly, nor by a program that was compiled without libcurl: "
                   "download the file");
}

#ifndef __EMSCRIPTEN__
unsigned oc_os_n_lazy;

void oc_os_load(const void *data, size_t bytes)
{
    (void)data;
    (void)bytes;
}
#endif

void oc_remote_unmap(const struct oc_file *f)
{
    (void)f;
}

int oc_remote_check(const struct oc_file *f, struct oc_err *err)
{
    (void)f;
    (void)err;
    return 0;
}
#else

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#undef curl_easy_setopt
#undef curl_easy_getinfo

#define FUNCTIONS(X)                                                                                         \
    X(global_init, curl_global_init)                                                                         \
    X(open, curl_easy_init)                                                                                  \
    X(close, curl_easy_cleanup)                                                                              \
    X(set, curl_easy_setopt)                                                                                 \
    X(perform, curl_easy_perform)                                                                            \
    X(info, curl_easy_getinfo)                                                                               \
    X(text, curl_easy_strerror)

OC_LIBRARY(curl, FUNCTIONS, .name = "libcurl", .use = "URLs", .package = "libcurl4",
           .soname = {"libcurl.so.4", "libcurl-gnutls.so.4"});

#define PIECE_BYTES ((uint64_t)1 << 16) /* of pages; the smallest request */
#define AHEAD_BYTES ((uint64_t)2 << 20) /* the largest one, when a file is read from one end to the other */
/* A server that sends fewer than SLOW_BYTES a second for STALL_S is given up; all requests for a file together end
 * with the limit remote-seconds. */
enum { HEAD_BYTES = 1 << 16, REDIRECTS = 10, CONNECT_S = 20, SLOW_BYTES = 1000, STALL_S = 30, TRIES = 2 };
enum { ROUNDING_MS = 10 }; /* libcurl's clock and ours round differently: a request may end this much early */

struct oc_remote {
    struct oc_remote *next;
    struct library lib;
    CURL *handle;
    struct oc_input_limits limits;
    char *url;
    uint8_t *data; /* the file in memory; parts that are not fetched are not accessible */
    uint64_t size_bytes;
    bool *loaded;                                 /* for each piece */
    uint64_t spent_ms;                            /* in requests */
    uint64_t fetched_bytes, next_at, ahead_bytes; /* where the last request ended, size of the next one */
    char tag[80];
    struct oc_err failure; /* the first one */
    /* the request in progress */
    struct oc_http_answer answer;
    struct oc_buf body;
    uint64_t head_bytes, room_bytes;
    bool too_long;
};

unsigned oc_os_n_lazy;
static struct oc_remote *remote_files;
static pthread_mutex_t remote_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- requests --------------------------------------------------------------------------------------- */

static size_t on_head(char *line, size_t one, size_t n, void *arg)
{
    struct oc_remote *r = arg;
    r->head_bytes += n * one;
    oc_http_line(&r->answer, line, n * one);
    r->too_long |= r->answer.status == 200 && r->answer.has_length && r->answer.length > r->room_bytes;
    return r->too_long || r->head_bytes > HEAD_BYTES ? 0 : n * one;
}

static size_t on_body(char *data, size_t one, size_t n, void *arg)
{
    struct oc_remote *r = arg;
    n *= one;
    if (r->answer.status != 200 && r->answer.status != 206)
        return n; /* the page of an error, or of a redirect */
    if (r->body.n + n > r->room_bytes) {
        r->too_long = true;
        return 0;
    }
    oc_buf_add(&r->body, data, n);
    return n;
}

static bool set_up(struct oc_remote *r)
{
    bool secure = !strncmp(r->url, "https:", 6);
    const char *protocols = secure ? "https" : "http,https";
    const struct {
        CURLoption option;
        long value;
    } numbers[] = {{CURLOPT_FOLLOWLOCATION, 1},
                   {CURLOPT_MAXREDIRS, REDIRECTS},
                   {CURLOPT_NOSIGNAL, 1},
                   {CURLOPT_CONNECTTIMEOUT, CONNECT_S},
                   {CURLOPT_LOW_SPEED_LIMIT, SLOW_BYTES},
                   {CURLOPT_LOW_SPEED_TIME, STALL_S},
                   {CURLOPT_NETRC, CURL_NETRC_IGNORED}};
    int rc = r->lib.set(r->handle, CURLOPT_PROTOCOLS_STR, protocols) ||
             r->lib.set(r->handle, CURLOPT_REDIR_PROTOCOLS_STR, protocols) ||
             r->lib.set(r->handle, CURLOPT_URL, r->url) ||
             r->lib.set(r->handle, CURLOPT_USERAGENT, "onnxcost/" ONNXCOST_VERSION) ||
             r->lib.set(r->handle, CURLOPT_HEADERFUNCTION, on_head) ||
             r->lib.set(r->handle, CURLOPT_HEADERDATA, r) ||
             r->lib.set(r->handle, CURLOPT_WRITEFUNCTION, on_body) ||
             r->lib.set(r->handle, CURLOPT_WRITEDATA, r);
    for (size_t i = 0; i < OC_COUNT(numbers); i++)
        rc |= r->lib.set(r->handle, numbers[i].option, numbers[i].value) != CURLE_OK;
    return rc == 0;
}

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* One try within the time that is left. *late: there is none, before or after it. */
static CURLcode perform_once(struct oc_remote *r, bool *late)
{
    uint64_t most = 1000 * oc_input_limit(&r->limits, OC_LIMIT_REMOTE_SECONDS), begin = now_ms();
    *late = r->spent_ms >= most;
    if (*late)
        return CURLE_OPERATION_TIMEDOUT;
    oc_buf_clear(&r->body);
    r->answer = (struct oc_http_answer){0};
    r->head_bytes = 0;
    r->too_long = false;
    r->lib.set(r->handle, CURLOPT_TIMEOUT_MS, (long)(most - r->spent_ms));
    CURLcode rc = r->lib.perform(r->handle);
    r->spent_ms += now_ms() - begin;
    *late = rc == CURLE_OPERATION_TIMEDOUT && r->spent_ms + ROUNDING_MS >= most;
    return rc;
}

/* Why a request failed, in the order in which one reason leads to another. libcurl reports a line of the head that
 * exceeds its own limit as missing memory. */
static int fail_request(const struct oc_remote *r, CURLcode rc, uint64_t n, uint64_t most, struct oc_err *err)
{
    if (r->too_long && r->answer.status == 200 && !r->data)
        return oc_fail(err, OC_ELIMIT,
                       "the server sends whole files only (no ranges), and this one is larger than --limit "
                       "remote-bytes (%" PRIu64 "): download it",
                       most);
    if (r->too_long)
        return oc_fail(err, OC_EFORMAT, "the server sends more than the %" PRIu64 " bytes of the request", n);
    if (r->head_bytes > HEAD_BYTES)
        return oc_fail(err, OC_EFORMAT, "the head of the answer has more than %d bytes", HEAD_BYTES);
    if (rc == CURLE_OUT_OF_MEMORY)
        return oc_fail(err, OC_EFORMAT, "the head of the answer is too long, or libcurl is out of memory");
    return oc_fail(err, OC_EIO, "%s: check the URL and the connection, or download it", r->lib.text(rc));
}

static int perform(struct oc_remote *r, uint64_t from, uint64_t n, struct oc_err *err)
{
    char range[64];
    CURLcode rc = CURLE_OK;
    bool late = false;
    uint64_t most = oc_input_limit(&r->limits, OC_LIMIT_REMOTE_BYTES);
    uint64_t left = most > r->fetched_bytes ? most - r->fetched_bytes : 0;
    if (n > left)
        return oc_input_limit_fail(&r->limits, OC_LIMIT_REMOTE_BYTES, 0, err);
    snprintf(range, sizeof(range), "%" PRIu64 "-%" PRIu64, from, from + n - 1);
    r->lib.set(r->handle, CURLOPT_RANGE, range);
    r->room_bytes = r->data ? n : left; /* a server without ranges sends the whole file */
    for (int i = 0; i < TRIES; i++) {
        rc = perform_once(r, &late);
        if (rc == CURLE_OK || r->too_long || rc == CURLE_OUT_OF_MEMORY || rc == CURLE_OPERATION_TIMEDOUT)
            break;
    }
    if (late)
        return oc_input_limit_fail(&r->limits, OC_LIMIT_REMOTE_SECONDS, 0, err);
    if (rc != CURLE_OK)
        return fail_request(r, rc, n, most, err);
    r->fetched_bytes += r->body.n;
    return 0;
}

/* Fetches [from, from + n) into r->body. */
static int request(struct oc_remote *r, uint64_t from, uint64_t n, bool *whole, struct oc_err *err)
{
    if (perform(r, from, n, err))
        return -1;
    uint64_t size = r->data ? r->size_bytes : UINT64_MAX;
    if (oc_http_check(&r->answer, from, n, size, r->tag, whole, err))
        return -1;
    uint64_t wanted =
        *whole ? (r->answer.has_length ? r->answer.length : r->body.n) : r->answer.last + 1 - from;
    if (*whole && r->answer.status == 416)
        return 0;
    return r->body.n == wanted
               ? 0
               : oc_fail(err, OC_EIO, "the connection ended after %zu of %" PRIu64 " bytes: try again",
                         r->body.n, wanted);
}

/* ---- parts ------------------------------------------------------------------------------------------ */

/* Makes whole pieces accessible, and copies what was received. */
static void place(struct oc_remote *r, uint64_t from, uint64_t n, const void *data, size_t bytes)
{
    mprotect(r->data + from, (size_t)n, PROT_READ | PROT_WRITE);
    if (bytes)
        memcpy(r->data + from, data, bytes);
    mprotect(r->data + from, (size_t)n, PROT_READ);
    memset(r->loaded + from / PIECE_BYTES, 1, (size_t)((n + PIECE_BYTES - 1) / PIECE_BYTES));
}

/* Fetches the pieces from `first` on that are not loaded, at least up to `end`. Returns the end of the loaded
 * part. */
static uint64_t load_pieces(struct oc_remote *r, uint64_t first, uint64_t end)
{
    bool whole;
    r->ahead_bytes = first == r->next_at && r->ahead_bytes < AHEAD_BYTES ? 2 * r->ahead_bytes : PIECE_BYTES;
    uint64_t want = end - first > r->ahead_bytes ? end - first : r->ahead_bytes, n = 0;
    want = want < AHEAD_BYTES ? want : AHEAD_BYTES;
    while (n < want && first + n < r->size_bytes && !r->loaded[(first + n) / PIECE_BYTES])
        n += PIECE_BYTES;
    n = n < r->size_bytes - first ? n : r->size_bytes - first;
    if (r->failure.code != OC_OK || request(r, first, n, &whole, &r->failure))
        oc_buf_clear(&r->body);
    place(r, first, n, r->body.data, r->body.n < n ? r->body.n : (size_t)n);
    r->next_at = first + n;
    return first + n;
}

void oc_os_load(const void *data, size_t bytes)
{
    oc_entry_lock(&remote_lock);
    for (struct oc_remote *r = remote_files; r && bytes; r = r->next) {
        uint64_t at = (uint64_t)((uintptr_t)data - (uintptr_t)r->data);
        if ((uintptr_t)data < (uintptr_t)r->data || at >= r->size_bytes)
            continue;
        uint64_t end = bytes < r->size_bytes - at ? at + bytes : r->size_bytes;
        for (at -= at % PIECE_BYTES; at < end;)
            at = r->loaded[at / PIECE_BYTES] ? at + PIECE_BYTES : load_pieces(r, at, end);
        break;
    }
    oc_entry_unlock(&remote_lock);
}

/* ---- files ------------------------------------------------------------------------------------------ */

static void free_remote(struct oc_remote *r)
{
    if (r->data)
        munmap(r->data, (size_t)r->size_bytes);
    if (r->handle)
        r->lib.close(r->handle);
    oc_library_close(&r->lib);
    oc_buf_free(&r->body);
    free(r->loaded);
    free(r->url);
    free(r);
}

static int check_url(const char *url, struct oc_err *err)
{
    const char *host = strstr(url, "://") + 3;
    if (memchr(host, '@', strcspn(host, "/?#")))
        return oc_fail(err, OC_EARG, "a URL with a user name or password is not accepted");
    for (const char *p = url; *p; p++)
        if ((unsigned char)*p <= ' ' || *p == 0x7f)
            return oc_fail(err, OC_EARG, "the URL has a blank or control character: write it as %%%02X",
                           (unsigned char)*p);
    return 0;
}

static int map_size(struct oc_remote *r, uint64_t size, struct oc_err *err)
{
    if (size > oc_input_limit(&r->limits, OC_LIMIT_FILE_BYTES))
        return oc_input_limit_fail(&r->limits, OC_LIMIT_FILE_BYTES, size, err);
    void *p = mmap(NULL, (size_t)size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return oc_fail(err, OC_EIO, "%" PRIu64 " bytes: %s", size, strerror(errno));
    r->data = p;
    r->size_bytes = size;
    r->loaded = oc_xmalloc((size_t)(size / PIECE_BYTES) + 1);
    memset(r->loaded, 0, (size_t)(size / PIECE_BYTES) + 1);
    return 0;
}

/* The first request: the size, and the beginning of the file. */
static int open_remote(struct oc_remote *r, struct oc_err *err)
{
    char *last_url = NULL;
    bool whole;
    r->lib.global_init(CURL_GLOBAL_DEFAULT);
    r->handle = r->lib.open();
    if (!r->handle || !set_up(r))
        return oc_fail(err, OC_ELIBRARY, "the installed libcurl cannot be used: 7.85 or newer is needed");
    if (request(r, 0, PIECE_BYTES, &whole, err))
        return -1;
    uint64_t size = whole ? r->body.n : r->answer.total;
    if (size && map_size(r, size, err))
        return -1;
    if (size)
        place(r, 0, whole || size < PIECE_BYTES ? size : PIECE_BYTES, r->body.data, r->body.n);
    r->next_at = r->ahead_bytes = PIECE_BYTES;
    snprintf(r->tag, sizeof(r->tag), "%s", r->answer.tag);
    /* further requests go where the redirects led */
    if (r->lib.info(r->handle, CURLINFO_EFFECTIVE_URL, &last_url) == CURLE_OK && last_url) {
        char *copy = strdup(last_url); /* of the handle, which frees it when it is set */
        if (!copy)
            oc_out_of_memory(strlen(last_url));
        r->lib.set(r->handle, CURLOPT_URL, copy);
        free(copy);
    }
    return 0;
}

static int check_urls_wanted(struct oc_err *err)
{
    return oc_may_read_urls() ? 0 : oc_fail(err, OC_EARG, "a URL is not inside the folder of --root");
}

int oc_remote_map(const char *url, const struct oc_input_limits *limits, struct oc_file *out, bool *missing,
                  struct oc_err *err)
{
    struct oc_remote *r = oc_xmalloc(sizeof(*r));
    *r = (struct oc_remote){.limits = *limits, .url = strdup(url)};
    *out = (struct oc_file){0};
    if (!r->url)
        oc_out_of_memory(strlen(url));
    int rc = check_urls_wanted(err);
    rc = rc ? rc : check_url(url, err);
    rc = rc ? rc : oc_library_open(&curl, &r->lib, err);
    rc = rc ? rc : open_remote(r, err);
    if (missing)
        *missing = r->answer.status == 404;
    if (rc || !r->data) {
        free_remote(r);
        if (rc)
            oc_err_prefix(err, "cannot read '%s'", url);
        return rc ? oc_err_at(err, url, 0, 0) : 0;
    }
    *out = (struct oc_file){.data = r->data, .size_bytes = r->size_bytes, .remote = r};
    oc_entry_lock(&remote_lock);
    r->next = remote_files;
    remote_files = r;
    oc_os_n_lazy++;
    oc_entry_unlock(&remote_lock);
    return 0;
}

void oc_remote_unmap(const struct oc_file *f)
{
    oc_entry_lock(&remote_lock);
    for (struct oc_remote **p = &remote_files; *p; p = &(*p)->next)
        if (*p == f->remote) {
            *p = f->remote->next;
            oc_os_n_lazy--;
            break;
        }
    oc_entry_unlock(&remote_lock);
    free_remote(f->remote);
}

int oc_remote_check(const struct oc_file *f, struct oc_err *err)
{
    if (!f->remote || f->remote->failure.code == OC_OK)
        return 0;
    if (err)
        *err = f->remote->failure;
    oc_err_prefix(err, "cannot read '%s'", f->remote->url);
    return oc_err_at(err, f->remote->url, 0, 0);
}
#endif
