#!/usr/bin/env bash
# Hook of pre-commit (.pre-commit-hooks.yaml): checks each model against MODEL.baseline.xml next to it; a model without that file
# must be readable. Installs the static program of an archive once, below the cache of the user, after a check of its SHA-256.
# usage: pre_commit.sh ARCHIVE SHA256 [OPTION of onnxcost check]... MODEL...      ARCHIVE: a URL (https) or a path
# Exit codes: 0 fine, 1 a model became worse, 2 usage, 3 a model cannot be read, 4 the program cannot be installed.
set -u
[ $# -ge 2 ] && [ ${#2} -eq 64 ] || {
    echo 'onnxcost: the hook needs args: [ARCHIVE, SHA256] in .pre-commit-config.yaml' >&2
    exit 2
}
archive=$1 sum=$2
shift 2
folder=${XDG_CACHE_HOME:-$HOME/.cache}/onnxcost/$sum

install() {
    new=$(mktemp -d) || return
    trap 'rm -rf "$new"' EXIT
    case $archive in
    https://*) curl --fail --silent --show-error --location --proto '=https' --output "$new/archive" "$archive" || return ;;
    *) cp -- "$archive" "$new/archive" || return ;;
    esac
    printf '%s  %s\n' "$sum" "$new/archive" | sha256sum --check --quiet >&2 || return
    mkdir -p "$new/files" "${folder%/*}" && tar -xzf "$new/archive" -C "$new/files" --strip-components=1 || return
    # another hook may have been faster
    mv -T "$new/files" "$folder" 2>/dev/null || [ -x "$folder/bin/onnxcost" ]
}
[ -x "$folder/bin/onnxcost" ] || install || {
    echo "onnxcost: cannot install '$archive': download it again, or correct its SHA-256 in .pre-commit-config.yaml" >&2
    exit 4
}

options=()
models=()
for word; do
    case $word in *.onnx) models+=("$word") ;; *) options+=("$word") ;; esac
done
worst=0
for model in "${models[@]}"; do
    code=0
    if [ -e "$model.baseline.xml" ]; then
        "$folder/bin/onnxcost" check "$model" --baseline "$model.baseline.xml" "${options[@]}" || code=$?
    else
        "$folder/bin/onnxcost" "$model" -f csv >/dev/null || code=$?
    fi
    [ $code -le $worst ] || worst=$code
done
exit $worst
