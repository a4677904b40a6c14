#!/bin/sh
# Builds the libraries of onnxcost with musl from Debian's source packages, into /opt/musl; runs in the chroot of check_cross.sh.
set -eu
prefix=/opt/musl
jobs=$(nproc)
export CC='musl-gcc -fPIC' LC_ALL=C
mkdir -p $prefix/src $prefix/include/protobuf-c $prefix/lib
cd $prefix/src
sed 's/^deb /deb-src /' /etc/apt/sources.list >/etc/apt/sources.list.d/sources.list
apt-get -qq update
apt-get -qq source zlib protobuf-c cmocka pcre2 libxml2 sqlite3
build() { # folder, options of configure
    (cd "$1"-*/ && shift && ./configure --prefix=$prefix "$@" && make -s "-j$jobs" AUTOMAKE=: ACLOCAL=: AUTOCONF=: AUTOHEADER=: && make -s AUTOMAKE=: ACLOCAL=: AUTOCONF=: AUTOHEADER=: install)
}
build zlib
build pcre2 --host=x86_64-linux-musl --disable-static --disable-pcre2grep-libz --disable-pcre2test-libreadline
build libxml2 --host=x86_64-linux-musl --disable-static --without-python --without-lzma --without-icu --without-zlib
build sqlite3 --host=x86_64-linux-musl --disable-static --disable-tcl --disable-readline --enable-fts5
# one file each
musl-gcc -O1 -fPIC -I protobuf-c-*/ -c -o protobuf-c.o protobuf-c-*/protobuf-c/protobuf-c.c
ar rcs $prefix/lib/libprotobuf-c.a protobuf-c.o
cp protobuf-c-*/protobuf-c/protobuf-c.h $prefix/include/protobuf-c/
mkdir -p empty
: >empty/config.h
musl-gcc -O1 -fPIC -w -I empty -I cmocka-*/include -DHAVE_CONFIG_H -DHAVE_STRSIGNAL -DHAVE_SIGNAL_H -DHAVE_STDINT_H -DHAVE_INTTYPES_H \
    -DHAVE_UNISTD_H -DHAVE_SETJMP_H -DHAVE_CLOCK_REALTIME -DHAVE_STRUCT_TIMESPEC -DHAVE_CLOCK_GETTIME -DHAVE_GCC_THREAD_LOCAL_STORAGE \
    -c -o cmocka.o cmocka-*/src/cmocka.c
ar rcs $prefix/lib/libcmocka.a cmocka.o
cp cmocka-*/include/*.h $prefix/include/
# the kernel's headers
ln -s /usr/include/linux /usr/include/asm-generic "/usr/include/$(gcc -dumpmachine)/asm" $prefix/include/
