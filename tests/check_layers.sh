#!/bin/sh
# The layers of src/: which folder may include which, where third-party headers may be included, unique file names.
# Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh

# folder  folders it may include in addition to itself, and the public headers
allowed='
base
shape    base
model    base shape
lang     base shape
ops      base lang shape model
analyze  base lang shape model ops
hw       base shape
profile  base shape
join     base shape model ops analyze profile
estimate base shape model ops analyze hw profile join
provider base shape model ops analyze profile join
run      base shape model ops hw profile measure
measure  base shape hw
memory   base shape model ops analyze hw profile
llm      base shape model analyze hw estimate
fleet    base shape model ops analyze hw profile join estimate report
report   base shape model analyze hw profile join estimate memory llm
advice   base lang shape model ops analyze hw profile join estimate report
gate     base shape model analyze hw profile join estimate report
trial    base model profile run report
annotate base shape model analyze hw join report advice
mcp      base
write    base shape model analyze hw profile join estimate provider memory llm fleet report gate advice trial
cli
onnxcost
'
# header pattern  the only places it may be included from
confined='
zlib.h            src/base/stream.c|tests/unit/base/|tests/unit/profile/test_csv_rows.c|tests/unit/profile/test_partial.c|tests/unit/cli/test_input_limits.c|tests/bench/|tests/deep/
protobuf-c/|onnx.pb-c.h  models/|tests/support/|tests/oracle/
onnx_header.pb-c.h  src/model/loader.h|src/model/graph_writer.h
libxml/           src/base/xml_read.c
isa-l/            src/base/stream.c
pcre2.h           src/report/python.c
xlsxwriter.h      src/write/out_xlsx.c
curl/             src/base/http.c
sqlite3.h         src/profile/sqlite_rows.c|tests/support/sqlite_file.c|tests/bench/
dlfcn.h           tests/unit/base/|tests/fake_ort/|src/base/os_posix.c|src/run/|tests/bench/
'

includes=$(grep -HnE '^[[:space:]]*#[[:space:]]*include' src/*/*.[ch] src/*/*/*.[ch])

problems=$(printf '%s\n' "$includes" | awk -v allowed="$allowed" '
    BEGIN {
        rows = split(allowed, line, "\n")
        for (i = 1; i <= rows; i++) {
            k = split(line[i], word, " ")
            if (!k) continue
            known[word[1]] = 1
            for (j = 1; j <= k; j++) ok[word[1] "/" word[j]] = 1
        }
    }
    match($0, /"[^"]*"/) {
        header = substr($0, RSTART + 1, RLENGTH - 2)
        split($0, part, ":")
        split(part[1], path, "/")
        folder = path[2]
        if (header ~ /^onnxcost(_types|\/[a-z]+)?\.h$/ || header == "op_tests.h" || header == "decoders.h" || header == "printed_formats.h" || header ~ /^[a-z]+_schema\.h$/ || header == "build_info.h" || header ~ /\.pb-c\.h$/) next
        n = split(header, target, "/")
        if (!(folder in known)) print part[1] ": folder not in the table of tests/check_layers.sh"
        else if (n < 2) print part[1] ":" part[2] ": include with its folder: " header
        else if (!(folder "/" target[1] in ok)) print part[1] ":" part[2] ": " folder " may not include " header
    }')
result 'folders include only lower layers' "$problems"

problems=$(grep -n '#include "profile/formats' src/profile/core/*.[ch]
    grep -nE '#include "write/([a-z_]+\.h|commands/)' src/write/tables/*.[ch])
result 'subfolders include only lower layers' "$problems"

problems=$(awk 'FNR == 1 && !/^\/\*/ { print FILENAME }' src/*/*.[ch] src/*/*/*.[ch])
result 'every file begins with what is in it' "$problems"

# the first file of a folder says what is in it and what may change; a header that it calls private stays so
problems=$(for folder in $(find src -mindepth 2 -name '*.c' | sed 's|/[^/]*$||' | sort -u); do
        name=${folder#src/} first=$(find "$folder" -maxdepth 1 -name '*.[ch]' | LC_ALL=C sort | head -n 1)
        [ "$(sed -n "1s|^/\\* $name/: [A-Z].*|yes|p" "$first")" = yes ] || echo "$first: does not begin with \"/* $name/: \" and what is in it"
        for header in $(sed '/\*\/$/q' "$first" | tr -d '\n' | sed -n 's/.*Private to the folder: //p' | tr -s '*./ ' '\n' | sed '/^h$/d; /^$/d'); do
            [ -e "$folder/$header.h" ] || echo "$first: no $header.h"
            printf '%s\n' "$includes" | grep -F "\"$name/$header.h\"" | grep -v "^$folder/[^/]*:" | sed "s|\$|: private to $name/|"
        done
    done)
result 'each folder says what is in it, and its private headers are' "$problems"

problems=$(printf '%s\n' "$confined" | while read -r pattern places; do
    [ -n "$pattern" ] || continue
    grep -HnE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]($pattern)" -r src models tests --include='*.[ch]' 2>/dev/null |
        grep -vE "^($places)"
done)
result 'third-party headers are confined to their wrappers' "$problems"

# loaded on demand: a name in a table; linked: shlibs, and for the static library its package for development
problems=$(sed -n 's/.*\.package = "\([^"]*\)".*/\1/p' src/*/*.c src/*/*/*.c | while read -r package; do
        for binary in onnxcost libonnxcost1; do
            awk -v package="$binary" '/^Package:/ { on = $2 == package } on && /^(Depends|Recommends|Suggests):|^ / ' src/deb/control |
                grep -qE "(^| )$package( \[amd64])?(,|$)" || echo "src/deb/control: $binary does not name $package, which is loaded on demand"
        done
    done
    for library in $(sed -n 's/^LIBS := //p' src/flags.mk | tr ' ' '\n' | sed -n 's/^-l//p' | grep -vE '^(m|dl)$'); do
        case $library in z) library=zlib1g ;; *) library=lib$library ;; esac
        sed -n '/^Package: libonnxcost-dev/,/^Description/p' src/deb/control | grep -q " $library-dev," ||
            echo "src/deb/control: libonnxcost-dev does not name $library-dev"
    done)
result 'packages name every library' "$problems"

problems=$(find src models tests \( -name '*.c' -o -name '*.h' \) ! -path 'src/onnxcost/*' 2>/dev/null | sed 's|.*/||' | sort | uniq -d)
result 'file names are unique' "$problems"

problems=$(grep -hoE '^(struct|enum|union) (oc|cli)_[a-z0-9_]+ \{' src/*.h src/*/*.[ch] src/*/*/*.[ch] | cut -d ' ' -f 2 | sort | uniq -d)
result 'names of structs and enums are unique' "$problems"

problems=$(grep -nE '\b(atoi|atol|strcpy|strcat|sprintf|vsprintf|gets|strtok|setlocale|strtod|atof)[[:space:]]*\(' \
    src/*/*.[ch] src/*/*/*.[ch] | grep -vE '^[^:]*:[0-9]*:[[:space:]]*\*([[:space:]/]|$)|newlocale|strtod_l'
    grep -nE '\b(str(n?)casecmp|tolower|toupper|isal(pha|num)|isspace|isupper|islower|ispunct|isprint)\b' src/*/*.[ch] src/*/*/*.[ch] |
        grep -vE '^src/(cli/|base/str.h|base/unicode.h)' | sed 's/$/  (see base\/str.h)/')
result 'no unsafe or locale-dependent functions' "$problems"

problems=$(awk 'FNR == 1 && file { if (lines > 700) print file ": " lines " lines" }
    FNR == 1 { file = FILENAME } { lines = FNR }
    END { if (lines > 700) print file ": " lines " lines" }' src/*/*.[ch] src/*/*/*.[ch])
result 'no file over 700 lines' "$problems"

# What macOS or Windows lacks: in the code of one system, in what is compiled for Linux only, or with a substitute in
# src/base/os_libc.h, whose list a port to another system has to provide.
calls='fopencookie|open_memstream|memfd_create|mkostemp|memrchr|strchrnul|qsort_r|pthread_condattr_setclock|sched_[a-z]+|
pthread_[a-z]+_np|socketpair|prctl|openat2?|mmap|munmap|madvise|posix_[a-z]+|mallopt|getauxval|syscall|pipe2|dup3|accept4|epoll_[a-z]+|
eventfd|inotify_[a-z]+|mremap|gettid|sendfile|getrandom|getrlimit|setrlimit|getrusage|dlopen|dlsym|dladdr|fork|vfork|waitpid|ioctl|poll|
sigaction|nl_langinfo|newlocale|uselocale|strtod_l|realpath|lstat|fchmod|fsync|umask|opendir|readdir|strsignal|memmem|strcasestr|strsep|
stpcpy|strndup|gmtime_r|sysconf|readlink|symlink|mkfifo|setpgid|setsid|alarm|setitimer|getpwuid|globfree|uname|canonicalize_file_name|
secure_getenv|strerror_r'
names='st_mtim|O_PATH|MADV_[A-Z_]+|MAP_[A-Z]+|SOCK_[A-Z]+|MSG_NOSIGNAL|RTLD_[A-Z]+|SIG(HUP|BUS|PIPE|XFSZ|USR1|CHLD)|program_invocation_name'
elsewhere='^src/(base/os_|base/http\.c|run/|measure/)|^src/cli/(main.c:mallopt|inputs.c:(mmap|MAP_[A-Z]+)|mcp_server.c:(fork|pipe2|prctl|waitpid|poll))
^src/fleet/[a-z_]+\.c:(fork|waitpid|poll|prctl|mmap|munmap|socketpair|sched_getaffinity|MAP_[A-Z]+|SOCK_[A-Z]+|MSG_NOSIGNAL|SIGBUS)'
list() { printf '%s' "$1" | tr -d '\n'; }
problems=$(grep -oHnE "\\b(($(list "$calls")) *\\(|($names)\\b)" src/*/*.c src/*/*/*.c | sed 's/ *($//' | awk -F: '{ print $1 ":" $3 }' |
    sort -u | grep -vE "$elsewhere" | while IFS=: read -r file name; do
        grep -qE "\\b$name\\b" src/base/os_libc.h || echo "$file: $name has no substitute in src/base/os_libc.h"
    done
    grep -nE '"/proc/|"/sys/' src/*/*.c src/*/*/*.c | grep -vE '^src/(base/os_|run/|measure/|profile/sqlite_rows|cli/cmd_help|write/out_xlsx)')
result 'calls that only Linux has are confined, or have a substitute for Windows' "$problems"

# Times of a run are made by the readers (profile/core/run_spread.h). Exempt: parts of a set of shapes, gaps of a queue.
problems=$(grep -nE '(ns|_us|_ms|_s)\)? */ *\(?(\(double\) *)?[A-Za-z0-9_.>()-]*\bruns(_used|_total)?\b' src/*/*.c src/*/*/*.c |
    grep -vE '^src/(profile|run|measure)/|^src/join/run_sizes.c:|^src/advice/[a-z_]*.c:.*idle_ns|^src/write/out_sections.c:.*sum.mean_ns')
result 'no output divides a time by a number of runs' "$problems"

problems=$(grep -nE '(^|[^a-z_])(printf|puts|putchar|perror) *\(' src/*/*.c src/*/*/*.c | grep -v '^src/cli/')
result 'the library prints nothing' "$problems"
finish
