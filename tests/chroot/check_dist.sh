#!/bin/sh
# The files of `make dist`: equal to those of a second release from another folder, each installed in a clean system (a debootstrap
# chroot with nothing else), where the first command of the README has to print what the README shows. Prints TAP.
# Root and a mirror are needed (SUITE, MIRROR). SECOND: a folder with the files of another build, which is not made then.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
unset SOURCE_DATE_EPOCH
: "${BUILD:=build/release}" "${SUITE:=bookworm}" "${MIRROR:=$(.ci/mirror)}" "${SECOND:=}"
: "${CHROMIUM:=$(command -v chromium || echo /usr/bin/chromium)}" "${PLAYWRIGHT:=$PWD/build/browser/node_modules/playwright-core}"
dist=$PWD/build/dist work=$PWD/build/dist-work/check log=$PWD/build/dist-work/check.txt
if [ "$(id -u)" -ne 0 ]; then
    echo '1..0 # SKIP a chroot needs root'
    exit 77
fi
[ -s "$dist/SHA256SUMS" ] || {
    echo 'Bail out! there is no release: make dist'
    exit 1
}
rm -rf "$work" && mkdir -p "$work/input/models/profiles" "$work/input/zoo"
version=$("$BUILD/onnxcost" --version | cut -d ' ' -f 2)
static=$dist/onnxcost-$version-linux-x86_64.tar.gz

# ---- the first command of the README, its output and its files
first=$(tests/transcripts.sh --commands README.md | sed -n 1p)
awk '/^```console/ { p = 1; next } p && /^```/ { exit } p && (/^\$ / || more) { more = /\\$/; next } p' README.md >"$work/want"
result 'the README begins with a transcript' "$(case $first in 'onnxcost zoo/resnet50.onnx '*) grep -q '^verdict .* ms per run' "$work/want" ;; *) false ;; esac || echo "$first")"
"$BUILD/onnxzoo" resnet50 -o "$work/input/zoo/resnet50.onnx"
for file in $(echo "$first" | tr ' ' '\n' | grep '^models/'); do cp "$file" "$work/input/models/profiles"; done

# ---- two builds
result 'SHA256SUMS has every file' "$(cd "$dist" && sha256sum --quiet -c SHA256SUMS 2>&1
    find . -type f ! -name SHA256SUMS | sed 's|^./||' | LC_ALL=C sort >"$work/files"
    sed 's/^[0-9a-f]*  //' SHA256SUMS | LC_ALL=C sort | diff "$work/files" -)"
if [ -z "$SECOND" ]; then
    clone=$work/a-folder-with-a-longer-name/and-another-one/onnxcost
    mkdir -p "${clone%/*}"
    git clone -q --no-hardlinks "$PWD" "$clone" && (
        umask 077
        cd "$clone" && TZ=Asia/Kathmandu ROOT="${ROOT:-$OLDPWD/build/dist-work/root}" src/dist/make_dist.sh build/dist build/dist-work
    ) >"$log" 2>&1
    passed $? 'a second release is made in another folder' "$(tail -n 3 "$log")"
    SECOND=$clone/build/dist
fi
result 'the files of both releases are equal' "$(diff "$dist/SHA256SUMS" "$SECOND/SHA256SUMS" 2>&1)"
result 'no file has the folder of the build' "$(cd "$dist" && for file in *; do
    case $file in
    *.deb) dpkg-deb --fsys-tarfile "$file" ;;
    *.gz | *.tgz) gzip -dc "$file" ;;
    *.whl) unzip -p "$file" 2>/dev/null || python3 -c 'import sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
for name in z.namelist(): sys.stdout.buffer.write(z.read(name))' "$file" ;;
    *) cat "$file" ;;
    esac | grep -qaF "$PWD" && echo "$file"
done)"

# ---- clean systems
rm -rf "$work/clean"
debootstrap --variant=minbase "$SUITE" "$work/clean" "$MIRROR" >"$log" 2>&1 || {
    tail -n 3 "$log"
    echo 'Bail out! debootstrap failed'
    exit 1
}
root=
system() { # name: a new clean system with the files of the command; becomes $root
    [ -z "$root" ] || rm -rf "$root"
    root=$work/$1
    cp -a "$work/clean" "$root"
    mkdir "$root/try" && cp -r "$work/input"/* "$root/try"
}
# the mounts end with the process
inside() { # root, command...
    unshare --mount sh -c 'mount --bind "$0" "$0" && { [ ! -d "$0/proc" ] || mount -t proc proc "$0/proc"; } && exec chroot "$0" "$@"' \
        "$1" env -i PATH="${paths:-}/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" LC_ALL=C HOME=/root COLUMNS=80 TERM=dumb DEBIAN_FRONTEND=noninteractive \
        sh -c "$2" </dev/null
}
install() { # packages, or patterns of files in /try
    inside "$root" "cd /try && apt-get -q install -y --no-install-recommends $*" >"$log" 2>&1
}
try() { # title, what precedes the command
    inside "$root" "cd /try && ${2:-} $first" >"$work/got" 2>&1
    result "$1: the first command prints what the README shows" "$(diff "$work/want" "$work/got" | head -n 5)"
}

system static
tar -xzf "$static" -C "$root/opt" && mv "$root"/opt/onnxcost-* "$root/opt/onnxcost"
paths=/opt/onnxcost/bin: try 'static program'
result 'static program: it needs no file of the system' "$(readelf -lW "$root/opt/onnxcost/bin/onnxcost" | grep INTERP)"
text=$(paths=/opt/onnxcost/bin: inside "$root" 'onnxcost --version --verbose')
result 'static program: it names its commit and its own data' "$(echo "$text" | grep -q "$(tar -xOzf "$dist/onnxcost-$version.tar.gz" "onnxcost-$version/.commit")" &&
    echo "$text" | grep -q '/opt/onnxcost/share/onnxcost/hwdb' || echo "$text")"

system deb
cp "$dist"/*_amd64.deb "$dist"/*_all.deb "$root/try"
install './onnxcost_*_amd64.deb' './onnxcost-data_*.deb'
passed $? 'amd64: the packages install' "$(tail -n 3 "$log")"
try 'amd64'
install './libonnxcost1_*_amd64.deb' './python3-onnxcost_*.deb'
text=$(inside "$root" 'python3 -c "import onnxcost; print(onnxcost.__version__)"' 2>&1)
[ "$text" = "$version" ]; passed $? 'amd64: the library and the Python package install' "$text"

system arm64
cp "$dist"/*_arm64.deb "$dist"/*_all.deb "$root/try"
inside "$root" 'dpkg --add-architecture arm64 && apt-get -q update' >"$log" 2>&1
install qemu-user './onnxcost_*_arm64.deb' './libonnxcost1_*_arm64.deb' './onnxcost-data_*.deb'
passed $? 'arm64: the packages install' "$(tail -n 3 "$log")"
try 'arm64' 'onnxcost() { qemu-aarch64 /usr/bin/onnxcost "$@"; };'

# devices need libxml2 of the system (src/doc/python.md)
system wheel
cp "$dist"/*.whl "$root/try"
# shellcheck disable=SC2046 # the steps of the profile and the hardware are words of the command
set -- $(echo "$first" | sed 's/ |.*//; s/^onnxcost //; s/-p //; s/--hw //')
cat >"$root/try/first.py" <<EOF
import onnxcost
report = onnxcost.analyze("$1", profile="$2", hw="$3")
print("verdict %.3g ms per run" % (report.time_ns / 1e6))
EOF
install python3-venv libxml2 && inside "$root" 'cd /try && python3 -m venv /opt/venv && /opt/venv/bin/pip install --no-index ./*.whl' >>"$log" 2>&1
passed $? 'wheel: it installs without network' "$(tail -n 3 "$log")"
text=$(inside "$root" 'cd /try && /opt/venv/bin/python3 first.py' 2>&1)
result 'wheel: the figures are those of the README' "$([ "$text" = "$(sed -n '1s/  */ /g; 1s/ms per run.*/ms per run/p' "$work/want")" ] || echo "$text")"

system npm
if command -v npm >/dev/null; then
    npm install --prefix "$root/try" --offline --ignore-scripts --no-audit --no-fund --loglevel=error "$dist/onnxcost-$version.tgz" >"$log" 2>&1
    passed $? 'npm: the package installs' "$(tail -n 3 "$log")"
    install nodejs
    paths=/try/node_modules/.bin: try 'npm'
else
    skip 'npm: the package installs' 'npm is missing'
fi

if [ -x "$CHROMIUM" ] && [ -e "$PLAYWRIGHT/package.json" ]; then
    text=$(cd "$work/input" && CHROMIUM=$CHROMIUM PLAYWRIGHT=$PLAYWRIGHT node "$OLDPWD/tests/browser/page_verdict.js" "$dist/onnxcost.html" "$@" 2>&1)
    result 'page: Chromium shows the verdict of the README' "$(tr -s ' \n' '  ' <"$work/want" | grep -o '[0-9.]* ms per run, [0-9]* % of what [A-Za-z ]* can do' |
        while read -r verdict; do echo "$text" | grep -qF "$verdict" || echo "no '$verdict' in: $text"; done)"
else
    skip 'page: Chromium shows the verdict of the README' 'Chromium or playwright-core is missing (make browser)'
fi

if command -v umoci >/dev/null; then
    mkdir "$work/oci" && tar -xf "$dist/onnxcost-$version-oci.tar" -C "$work/oci" &&
        umoci unpack --image "$work/oci:onnxcost:$version" "$work/bundle" >"$log" 2>&1
    passed $? 'image: umoci unpacks it' "$(tail -n 3 "$log")"
    files=$work/bundle/rootfs
    cp -r "$work/input"/* "$files"
    # the entry point, on the files of the image only
    entry=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["process"]["args"][0])' "$work/bundle/config.json")
    mkdir -p "$files/proc" "$work/bin"
    cat >"$work/bin/onnxcost" <<EOF
#!/bin/sh
exec unshare --mount sh -c 'mount -t proc proc "\$0/proc" && exec chroot "\$0" "\$@"' "$files" "$entry" "\$@"
EOF
    chmod +x "$work/bin/onnxcost"
    env -i PATH="$work/bin:$PATH" COLUMNS=80 TERM=dumb LC_ALL=C sh -c "$first" >"$work/got" 2>&1
    result 'image: the first command prints what the README shows' "$(diff "$work/want" "$work/got" | head -n 5)"
else
    skip 'image: umoci unpacks it' 'umoci is missing'
fi

# ---- the steps of the recipes, on the static archive
system recipes
cp "$dist/onnxcost.rb" "$dist/meta.yaml" "$root/try" && mkdir "$root/try/source" && tar -xzf "$static" -C "$root/try/source" --strip-components=1
cat >"$root/try/brew.rb" <<'EOF'
# What the formula uses of Homebrew.
require "fileutils"
class Formula
  Folder = Struct.new(:path) do
    def install(*what) = (FileUtils.mkdir_p(path); FileUtils.cp_r(what.flatten, path))
    def to_s = path
  end
  class << self
    attr_reader :checks
    def facts = @facts ||= {}
    def test(&block) = @checks = block
    def method_missing(name, *value) = facts[name] ||= value.first
    def respond_to_missing?(*) = true
  end
  def bin = Folder.new("/opt/brew/bin")
  def share = Folder.new("/opt/brew/share")
  def version = self.class.facts[:version]
  def shell_output(command) = `#{command}`.tap { raise command unless $?.success? }
  def assert_match(want, got) = got.include?(want) || raise("no #{want} in #{got}")
end
load "/try/onnxcost.rb"
formula = Onnxcost.new
Dir.chdir("/try/source") { formula.install }
formula.instance_eval(&Onnxcost.checks)
puts Onnxcost.facts[:sha256], File.basename(Onnxcost.facts[:url])
EOF
cat >"$root/try/conda.py" <<'EOF'
# What conda-build does with the recipe.
import os, subprocess, yaml
recipe = yaml.safe_load(open("/try/meta.yaml"))
where = {**os.environ, "PREFIX": "/opt/conda", "PATH": "/opt/conda/bin:" + os.environ["PATH"]}
for command in [recipe["build"]["script"], *recipe["test"]["commands"]]:
    subprocess.run(command, shell=True, check=True, cwd="/try/source", env=where, stdout=subprocess.DEVNULL)
assert os.path.exists("/try/source/" + recipe["about"]["license_file"])
print(recipe["source"]["sha256"], os.path.basename(recipe["source"]["url"]), sep="\n")
EOF
install ruby python3-yaml
facts="$(sha256sum "$static" | cut -d ' ' -f 1)
${static##*/}"
text=$(inside "$root" 'ruby /try/brew.rb' 2>&1)
[ "$text" = "$facts" ]; passed $? 'formula: its steps and its test pass, with the checksum of the static archive' "$text"
paths=/opt/brew/bin: try 'formula'
text=$(inside "$root" 'python3 /try/conda.py' 2>&1)
[ "$text" = "$facts" ]; passed $? 'conda recipe: its steps and its tests pass, with the checksum of the static archive' "$text"
paths=/opt/conda/bin: try 'conda recipe'
rm -rf "$root"

# ---- components, changelog, scripts of CI
python3 - "$dist" "$version" >"$log" 2>&1 <<'EOF'
import hashlib, json, os, subprocess, sys
dist, version = sys.argv[1:]
document = json.load(open(f"{dist}/onnxcost-{version}.spdx.json"))
packages = {p["SPDXID"]: p for p in document["packages"]}
links = {(r["spdxElementId"], r["relatedSpdxElement"]): r["relationshipType"] for r in document["relationships"]}
for pair in links:
    for name in pair:
        if name not in packages and name != "SPDXRef-DOCUMENT":
            print(f"{name} is not in the document")
files = {p["packageFileName"]: p for p in packages.values() if "packageFileName" in p}
for name in os.listdir(dist):
    if name.endswith((".md", ".rb", ".yaml", ".json")) or name == "SHA256SUMS":
        continue
    found = hashlib.sha256(open(f"{dist}/{name}", "rb").read()).hexdigest()
    if name not in files or files[name]["checksums"][0]["checksumValue"] != found:
        print(f"{name} is not in the document, or with another checksum")
def of(end, kind):
    (me,) = [p["SPDXID"] for name, p in files.items() if name.endswith(end)]
    return sorted(packages[b]["name"] for (a, b), k in links.items() if a == me and k == kind)
want = ["gcc-12", "libxml2", "musl", "pcre2", "protobuf-c", "sqlite3", "zlib"]
if of("linux-x86_64.tar.gz", "STATIC_LINK") != want or of("oci.tar", "STATIC_LINK") != want or of("linux-x86_64.tar.gz", "DYNAMIC_LINK"):
    print("static program:", *of("linux-x86_64.tar.gz", "STATIC_LINK"))
for end in (".html", "-" + version + ".tgz"):
    if of(end, "STATIC_LINK") != ["emscripten", "libxml2", "pcre2", "protobuf-c", "sqlite3", "zlib"]:
        print(end, *of(end, "STATIC_LINK"))
if of(".whl", "DYNAMIC_LINK") != ["glibc", "zlib"] or "protobuf-c" not in of(".whl", "STATIC_LINK"):
    print("wheel:", *of(".whl", "DYNAMIC_LINK"), *of(".whl", "STATIC_LINK"))
EOF
result 'components: every file with its checksum, and what is linked' "$(cat "$log")"
result 'changelog: it begins with this version' "$(head -n 1 "$dist/CHANGELOG.md" | grep -q "^## $version (" || head -n 1 "$dist/CHANGELOG.md")"
ARCHIVE=$static BUILD=$BUILD tests/check_action.sh >"$log" 2>&1
passed $? 'action, hook and template work with the static archive' "$(grep -A 3 '^not ok' "$log")"
rm -rf "$work/clean"
finish
