#!/bin/sh
# Compiles the libraries of a build for another platform from Debian's source packages: what onnxcost calls, nothing else.
# usage: src/web/make_libs.sh wasm|mingw|musl FOLDER
# Writes FOLDER/include, FOLDER/lib*.a and FOLDER/copyright; sources in FOLDER/sources. mingw: cmocka too, for the unit tests.
# The packages are found with lists of their own: the system needs no deb-src lines and is not changed.
set -eu
lib=$2 root=$(cd "$(dirname "$0")/../.." && pwd) packages='zlib libxml2 sqlite3 pcre2 protobuf-c'
case $1 in
wasm)
    export NODE_PATH="${NODE_PATH:-/usr/share/nodejs}"
    cc=emcc ar=emar configure=emconfigure host=i386-unknown-linux threads=0
    ;;
mingw)
    packages="$packages cmocka"
    cc=x86_64-w64-mingw32-gcc-posix ar=x86_64-w64-mingw32-gcc-ar-posix configure="env CC=x86_64-w64-mingw32-gcc-posix"
    host=x86_64-w64-mingw32 threads=1
    ;;
musl)
    cc=musl-gcc ar=ar configure="env CC=musl-gcc" host=x86_64-linux-musl threads=1
    ;;
*) echo "usage: src/web/make_libs.sh wasm|mingw|musl FOLDER" >&2; exit 2 ;;
esac
mkdir -p "$lib/sources/apt/lists/partial" "$lib/sources/apt/archives/partial" "$lib/include/protobuf-c"
cd "$lib"
lib=$PWD

get_sources() {
    # shellcheck source=/dev/null
    . /etc/os-release
    mirror=${MIRROR:-$("$root/.ci/mirror")}
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $VERSION_CODENAME main" >sources/apt/sources.list
    set -- apt-get -q -o Dir::Etc::SourceList="$lib/sources/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$lib/sources/apt/lists" -o Dir::Cache="$lib/sources/apt"
    # shellcheck disable=SC2086 # the list is meant to be split
    "$@" update && (cd sources && "$@" source $packages)
}
source_of() { # package: its folder
    for dir in sources/"$1"-[0-9]*/; do
        [ -d "$dir" ] && echo "$lib/${dir%/}" && return
    done
    return 1
}
have_sources() {
    for package in $packages; do
        source_of "$package" >/dev/null || return 1
    done
}
have_sources || get_sources >sources/log 2>&1 || { tail -n 5 sources/log >&2; echo "onnxcost: cannot get the sources of: $packages" >&2; exit 4; }

compile() { # name, folder, options, -- files
    name=$1 dir=$2 options=
    shift 2
    while [ "$1" != -- ]; do options="$options $1"; shift; done
    shift
    mkdir -p "objects/$name"
    # shellcheck disable=SC2086 # options are meant to be split
    (cd "objects/$name" && printf "$dir/%s\\0" "$@" |
        xargs -0 -n 2 -P "${JOBS:-$(nproc)}" $cc -O2 -w "-ffile-prefix-map=$lib=lib" $options -c)
    rm -f "lib$name.a"
    $ar rcsD "lib$name.a" "objects/$name"/*.o
}

zlib=$(source_of zlib)
cp "$zlib/zlib.h" "$zlib/zconf.h" include
compile z "$zlib" -- adler32.c compress.c crc32.c deflate.c inffast.c inflate.c inftrees.c trees.c zutil.c

pbc=$(source_of protobuf-c)
cp "$pbc/protobuf-c/protobuf-c.h" include/protobuf-c
compile protobuf-c "$pbc" "-I$pbc" -- protobuf-c/protobuf-c.c

pcre2=$(source_of pcre2)
cp "$pcre2/src/pcre2.h.generic" include/pcre2.h
cp "$pcre2/src/config.h.generic" include/config.h
cp "$pcre2/src/pcre2_chartables.c.dist" "$pcre2/src/pcre2_chartables.c"
compile pcre2-8 "$pcre2/src" "-I$lib/include" -DHAVE_CONFIG_H -DPCRE2_CODE_UNIT_WIDTH=8 -DPCRE2_STATIC -DSUPPORT_UNICODE -- \
    pcre2_auto_possess.c pcre2_chartables.c pcre2_compile.c pcre2_config.c pcre2_context.c pcre2_error.c pcre2_extuni.c \
    pcre2_find_bracket.c pcre2_match.c pcre2_match_data.c pcre2_newline.c pcre2_ord2utf.c pcre2_pattern_info.c \
    pcre2_script_run.c pcre2_string_utils.c pcre2_study.c pcre2_tables.c pcre2_ucd.c pcre2_valid_utf.c pcre2_xclass.c
rm include/config.h

mkdir -p objects/amalgamation
[ -s objects/amalgamation/sqlite3.c ] || (cd objects/amalgamation && "$(cd "$lib" && source_of sqlite3)/configure" --disable-tcl >log &&
    make sqlite3.c sqlite3.h >>log)
cp objects/amalgamation/sqlite3.h include
compile sqlite3 "$lib/objects/amalgamation" -DSQLITE_THREADSAFE=$threads -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_MAX_MMAP_SIZE=0 -- sqlite3.c

xml=$(source_of libxml2)
mkdir -p objects/xml
[ -s objects/xml/config.h ] || (cd objects/xml && $configure "$xml/configure" --host=$host --disable-shared \
    --with-minimum --without-lzma --with-tree --with-reader --with-pattern --with-push --with-sax1 --with-output >log 2>&1)
cp -r "$xml/include/libxml" objects/xml/include/libxml/xmlversion.h include 2>/dev/null || :
mv include/xmlversion.h include/libxml
compile xml2 "$xml" -DLIBXML_STATIC "-I$lib/objects/xml" "-I$lib/include" "-I$xml/include" "-I$xml" -- SAX.c SAX2.c buf.c chvalid.c dict.c encoding.c \
    entities.c error.c globals.c hash.c list.c parser.c parserInternals.c pattern.c threads.c tree.c uri.c valid.c xmlIO.c \
    xmlmemory.c xmlreader.c xmlsave.c xmlstring.c

if [ "$1" = mingw ]; then
    cmocka=$(source_of cmocka)
    cp "$cmocka"/include/*.h include
    compile cmocka "$cmocka" "-I$lib/include" -DHAVE_SNPRINTF -DHAVE_VSNPRINTF -DHAVE_STDINT_H -DHAVE_INTTYPES_H -D__USE_MINGW_ANSI_STDIO=1 -- src/cmocka.c
fi

# the headers of the kernel: musl-gcc has no folder with them
if [ "$1" = musl ]; then
    ln -sfn /usr/include/linux /usr/include/asm-generic "/usr/include/$(gcc -print-multiarch)/asm" include
fi

for package in $packages; do
    echo "==== $package"
    cat "$(source_of "$package")/debian/copyright"
done >copyright
