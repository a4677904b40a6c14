#!/bin/sh
# Fetches libraries of ONNX Runtime from npm's package onnxruntime-node, for `onnxcost bisect` and `record --ort-lib`.
# usage: models/fetch_onnxruntime.sh FOLDER [VERSION...]     FOLDER/VERSION/.../libonnxruntime.so*; nothing of the package runs
# Default: one of each minor version. Existing ones are kept. Needs npm; 15 to 46 MB each.
set -eu
[ $# -gt 0 ] || { sed -n '3s/^# //p' "$0" >&2; exit 2; }
folder=$1
shift
[ $# -gt 0 ] || set -- 1.12.1 1.13.1 1.14.0 1.15.1 1.16.3 1.17.3 1.18.0 1.19.2 1.20.1 1.21.1 1.22.0 1.23.2 1.24.3 1.25.1 1.26.0 1.27.0 1.29.0 1.30.0
case $(uname -s)-$(uname -m) in
Linux-x86_64) place=linux/x64 ;;
Linux-aarch64) place=linux/arm64 ;;
Darwin-arm64) place=darwin/arm64 ;;
*) echo "$0: npm has no library for $(uname -s) $(uname -m)" >&2; exit 4 ;;
esac
mkdir -p "$folder"
rc=0
for version; do
    [ ! -d "$folder/$version" ] || continue
    part=$folder/.$version.part
    rm -rf "$part"
    mkdir "$part"
    if (cd "$part" && npm pack --silent "onnxruntime-node@$version" >/dev/null && tar xzf ./*.tgz && rm ./*.tgz &&
        find . -type f ! -path "*/$place/*" -delete && find . -type d -empty -delete && [ -n "$(find . -name 'libonnxruntime*')" ]); then
        mv "$part" "$folder/$version"
        echo "$folder/$version"
    else
        echo "$0: version $version was not fetched" >&2
        rm -rf "$part"
        rc=4
    fi
done
exit $rc
