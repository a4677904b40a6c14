#!/bin/sh
# What src/doc/ci.md offers for GitHub, pre-commit and GitLab: the YAML and the references in it, and the scripts, which run here in
# a repository with two commits, with stubs of gh, sudo and curl. pre-commit and gitlab-ci-local run the hook and the template as
# the document gives them. Prints TAP.
# ARCHIVE: the static archive of a release, otherwise one with the program of the tree
# GITLAB: the folder of the npm package gitlab-ci-local (`make action-check`)
# modes: release
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/tap.sh
: "${BUILD:=build/release}" "${GITLAB:=$PWD/build/gitlab/node_modules/gitlab-ci-local}"
top=$PWD
work=$PWD/$BUILD/action
rm -rf "$work"
mkdir -p "$work/bin" "$work/repo/models" "$work/temp"
python=
for p in python3 /usr/bin/python3; do
    [ -z "$python" ] && $p -c 'import yaml' 2>/dev/null && python=$p
done
if [ -z "$python" ] || ! command -v git >/dev/null || ! command -v bash >/dev/null; then
    skip_named 'the composite action' 'package python3-yaml, git or bash is missing'
    finish
fi

# ---- YAML: the form of a composite action, and nothing of the event inside of scripts
cat >"$work/read.py" <<'EOF'
import re, sys, yaml
action = yaml.safe_load(open(sys.argv[1]))
problems = []
if action["runs"]["using"] != "composite":
    problems.append("not a composite action")
known = set(action["inputs"])
used = set()
for i, step in enumerate(action["runs"]["steps"]):
    if step.get("shell") != "bash" or not step.get("name"):
        problems.append(f"step {i} lacks a shell or a name")
    if "${{" in step["run"]:
        problems.append(f"step {i}: an expression inside of the script")
    text = step.get("if", "") + " ".join(step.get("env", {}).values())
    used |= set(re.findall(r"inputs\.([a-z0-9]+)", text))
    open(f"{sys.argv[2]}/step{i}.sh", "w").write(step["run"])
for name in sorted(used ^ known):
    problems.append(f"input '{name}' is {'not declared' if name in used else 'not used'}")
for name, text in action["inputs"].items():
    if not text.get("description") or ("default" in text) == bool(text.get("required")):
        problems.append(f"input '{name}' needs a description, and a default or required")
md = open(sys.argv[3]).read()
_, workflow, hooks, pipeline = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", md, re.S)]
given = workflow["jobs"]["cost"]["steps"][-1]["with"]
for name in given:
    if name not in known:
        problems.append(f"the document gives an unknown input '{name}'")
for name, text in action["inputs"].items():
    if text.get("required") and name not in given:
        problems.append(f"the document lacks the input '{name}'")
    if f"| `{name}` |" not in md:
        problems.append(f"the table of the document lacks '{name}'")
# the hook of pre-commit and the job of GitLab
(hook,) = yaml.safe_load(open(".pre-commit-hooks.yaml"))
if hooks["repos"][0]["hooks"][0]["id"] != hook["id"] or not open(hook["entry"]).read().startswith("#!"):
    problems.append("the hook of the document is not that of .pre-commit-hooks.yaml")
template = yaml.safe_load(open(sys.argv[4]))[".onnxcost"]
for name in set(pipeline["cost"]["variables"]) ^ set(template["variables"]):
    problems.append(f"the variable '{name}' is not in the template, or not in the document")
open(f"{sys.argv[2]}/gitlab.sh", "w").write(template["script"][0])
print("\n".join(problems))
EOF
result 'the action, the hook and the template agree with the document' \
    "$($python "$work/read.py" src/doc/ci/action.yml "$work" src/doc/ci.md src/doc/ci/gitlab.yml 2>&1)"
problems=$(for step in "$work"/*.sh; do bash -n "$step" 2>&1; done)
result 'the scripts parse' "$problems"
if command -v shellcheck >/dev/null; then
    result 'shellcheck' "$(shellcheck -s bash "$work"/step?.sh 2>&1 | head -n 20
        shellcheck -s sh "$work/gitlab.sh" 2>&1 | head -n 20)"
else
    skip_named 'shellcheck of the action' 'shellcheck is missing'
fi

# ---- stubs: what they were called with is in calls
cat >"$work/bin/sudo" <<'EOF'
#!/bin/sh
echo "sudo $*" >>"$CALLS"
for f; do case "$f" in *.deb) [ -s "$f" ] || exit 1 ;; esac; done
EOF
cat >"$work/bin/curl" <<'EOF'
#!/bin/sh
echo "curl $*" >>"$CALLS"
while [ $# -gt 1 ]; do [ "$1" = --output ] && echo package >"$2"; shift; done
EOF
cat >"$work/bin/gh" <<'EOF'
#!/bin/sh
echo "gh $*" >>"$CALLS"
for a; do case "$a" in body=@*) cp "${a#body=@}" "$BODY" ;; esac; done
case "$*" in *--paginate*) printf '%s' "$EXISTING" ;; esac
EOF
cat >"$work/bin/npm" <<'EOF'
#!/bin/sh
echo "npm $*" >>"$CALLS"
EOF
chmod +x "$work"/bin/*
ln -s "$top/$BUILD/onnxcost" "$work/bin/onnxcost"
export PATH="$work/bin:$PATH" CALLS="$work/calls" BODY="$work/body" RUNNER_TEMP="$work/temp" EXISTING='' LC_ALL=C \
    GITHUB_REPOSITORY=owner/name ONNXCOST_HWDB="${ONNXCOST_HWDB:-$top/hwdb}" HOME="$work" GIT_CONFIG_NOSYSTEM=1 \
    GITHUB_STEP_SUMMARY="$work/summary.md" ONNXRUNTIME=''

# ---- a repository: one model changes, one stays, one is new
cd "$work/repo" || exit 1
"$top/$BUILD/onnxzoo" resnet18 -o models/a.onnx >/dev/null
"$top/$BUILD/onnxzoo" mobilenetv2 -o models/same.onnx >/dev/null
onnxcost check models/a.onnx --save-baseline models/a.onnx.baseline.xml
onnxcost check models/same.onnx --save-baseline models/same.onnx.baseline.xml
git init -q . && git add . && git -c user.name=t -c user.email=t@example.org commit -q -m base
BASE=$(git rev-parse HEAD)
"$top/$BUILD/onnxzoo" resnet50 -o models/a.onnx >/dev/null
"$top/$BUILD/onnxzoo" crnn -o 'models/new one.onnx' >/dev/null
export BASE MODELS='models/a.onnx
models/same.onnx

models/new one.onnx'

# step, exit code wanted, title
step() {
    : >"$CALLS"
    bash --noprofile --norc -eo pipefail "$work/step$1.sh" >"$work/out" 2>"$work/err" </dev/null
    code=$?
    [ $code -eq "$2" ]
    passed $? "$3" "exit code $code
$(cat "$work/out" "$work/err")"
}

echo package >one.deb
sum=$(sha256sum one.deb | cut -d ' ' -f 1)
PACKAGES='one.deb
https://example.org/two.deb' SHA256="$sum
$sum" step 0 0 'packages are installed from a path and a URL'
result 'by apt-get, with their checksums' "$([ "$(grep -c '^sudo apt-get install .*/1.deb .*/2.deb$' "$CALLS")" -eq 1 ] &&
    grep -q "^curl .*--proto =https .*https://example.org/two.deb" "$CALLS" || cat "$CALLS")"
PACKAGES=one.deb SHA256=$(echo other | sha256sum | cut -d ' ' -f 1) step 0 1 'a wrong checksum stops'
result 'before anything is installed' "$(grep sudo "$CALLS")"
PACKAGES=one.deb SHA256='' step 0 1 'a missing checksum stops'
PACKAGES=none.deb SHA256=$sum step 0 1 'a missing package stops'

# ---- the static archive
if [ -z "${ARCHIVE:-}" ]; then
    ARCHIVE=$work/onnxcost.tar.gz
    mkdir -p "$work/onnxcost-static/bin" "$work/onnxcost-static/share/onnxcost"
    cp "$top/$BUILD/onnxcost" "$work/onnxcost-static/bin" && cp -r "$top/hwdb" "$work/onnxcost-static/share/onnxcost"
    tar -czf "$ARCHIVE" -C "$work" onnxcost-static
fi
archive_sum=$(sha256sum "$ARCHIVE" | cut -d ' ' -f 1)
export GITHUB_PATH="$work/path"
PACKAGES=$ARCHIVE SHA256=$archive_sum step 0 0 'the static archive is installed'
result 'without apt-get, and the program of later steps is in it' "$([ ! -s "$CALLS" ] && [ -x "$(cat "$GITHUB_PATH")/onnxcost" ] &&
    "$(cat "$GITHUB_PATH")/onnxcost" --version | grep -qxF "$(onnxcost --version)" || cat "$CALLS" "$GITHUB_PATH" "$work/err")"
PACKAGES=$ARCHIVE SHA256=$sum step 0 1 'a static archive with another checksum stops'

step 2 0 'the difference of three models is written'
problems=$(for text in '<!-- onnxcost -->' '### onnxcost diff' '1,814,073,344' '4,089,184,256' '`models/same.onnx`: unchanged' \
    '### onnxcost: `models/new one.onnx` is new'; do
    grep -qF -- "$text" "$RUNNER_TEMP/onnxcost.md" || echo "missing: $text"
done
head -n 1 "$RUNNER_TEMP/onnxcost.md" | grep -qx '<!-- onnxcost -->' || echo 'the mark is not first'
cmp "$RUNNER_TEMP/onnxcost.md" "$GITHUB_STEP_SUMMARY"
grep -q '^::warning file=models/a.onnx,title=onnxcost diff%3A MACs::' "$work/err" || echo 'no annotation')
result 'with totals, unchanged and new models, in the step summary and as annotations' "$problems"

# ---- measured: an imitation of ONNX Runtime whose runs take 20 us, whatever the model
ONNXRUNTIME=1.30.0 step 1 0 'ONNX Runtime is installed'
result 'by npm, without scripts' "$(grep -q '^npm install .*--ignore-scripts .*onnxruntime-node@1.30.0$' "$CALLS" || cat "$CALLS")"
mkdir weights
"$top/$BUILD/onnxzoo" mobilenetv2 --weights random -o weights/m.onnx >/dev/null
cp weights/m.onnx models/same.onnx
git add models/same.onnx && git -c user.name=t -c user.email=t@example.org commit -q -m weights
"$top/$BUILD/onnxzoo" mobilenetv3 --weights random -o models/same.onnx >/dev/null
MODELS='models/same.onnx
models/a.onnx' BASE=$(git rev-parse HEAD) ONNXRUNTIME=1.30.0 FAKE_ORT=plain ONNXRUNTIME_LIB="$top/$BUILD/fake_ort.so" step 2 0 'changed models are measured'
result 'a change is compared in recordings in turns, and what cannot run is named' "$(grep -q '(.*5 and 5 recordings, recorded in turns' "$RUNNER_TEMP/onnxcost.md" &&
    grep -q '^`models/a.onnx` could not be measured' "$RUNNER_TEMP/onnxcost.md" || cat "$RUNNER_TEMP/onnxcost.md" "$work/err")"
"$top/$BUILD/onnxzoo" mobilenetv2 -o models/same.onnx >/dev/null
step 2 0 'the difference without a measurement'

NUMBER=7 step 3 0 'the first comment'
result 'is created' "$(grep -q '^gh api --method POST repos/owner/name/issues/7/comments' "$CALLS" &&
    cmp "$BODY" "$RUNNER_TEMP/onnxcost.md" || cat "$CALLS")"
EXISTING='41
42
' NUMBER=7 step 3 0 'the next one'
result 'updates it' "$(grep -q '^gh api --method PATCH repos/owner/name/issues/comments/41 ' "$CALLS" &&
    ! grep -q POST "$CALLS" || cat "$CALLS")"
{ echo '<!-- onnxcost -->' && head -c 100000 /dev/zero | tr '\0' x; } >"$RUNNER_TEMP/onnxcost.md"
NUMBER=7 step 3 0 'a long comment'
result 'is cut' "$([ "$(wc -c <"$BODY")" -lt 65536 ] && grep -q 'step summary' "$BODY" || wc -c "$BODY")"

BASELINE=MODEL.baseline.xml TOLERANCE='' step 4 3 'a model without its baseline is an error of the input'
result 'after the other models were checked' "$(grep -q '^::error file=models/a.onnx.baseline.xml,line=[0-9]*,title=onnxcost check%3A macs' "$work/out" &&
    grep -q "models/new one.onnx.baseline.xml" "$work/err" || cat "$work/out" "$work/err")"
MODELS='models/a.onnx
models/same.onnx' BASELINE=MODEL.baseline.xml TOLERANCE='' step 4 1 'a worse model fails'
MODELS='models/a.onnx' BASELINE=models/a.onnx.baseline.xml TOLERANCE=900% step 4 0 'a tolerance is passed on'
MODELS='models/same.onnx' BASELINE=MODEL.baseline.xml TOLERANCE='2%,latency=5%' step 4 0 'an unchanged model passes'

# ---- pre-commit: the exit code is that of the worst model
hook() { # exit code wanted, title, arguments
    wanted=$1 title=$2
    shift 2
    env -u ONNXCOST_HWDB XDG_CACHE_HOME="$work/cache" "$top/src/doc/ci/pre_commit.sh" "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$?
    [ $code -eq "$wanted" ]
    passed $? "$title" "exit code $code
$(cat "$work/out" "$work/err")"
}
hook 4 'hook: another checksum stops' "$ARCHIVE" "$sum" models/same.onnx
result 'and nothing is installed' "$(ls "$work/cache/onnxcost/$sum" 2>/dev/null)"
hook 2 'hook: the archive is required' --tolerance=2% models/same.onnx
hook 0 'hook: an unchanged model and a model without a baseline pass' "$ARCHIVE" "$archive_sum" models/same.onnx 'models/new one.onnx'
hook 1 'hook: a worse model fails' "$ARCHIVE" "$archive_sum" --tolerance=2% models/same.onnx models/a.onnx 'models/new one.onnx'
result 'with the limit that failed' "$(grep -q '^failed  *macs' "$work/out" || cat "$work/out")"
hook 0 'hook: options are passed on' /nowhere "$archive_sum" --tolerance=900% models/a.onnx
echo broken >models/broken.onnx
hook 3 'hook: a file that is not a model is an error of the input' /nowhere "$archive_sum" models/broken.onnx models/a.onnx
title='pre-commit runs the hook'
if command -v pre-commit >/dev/null && git -C "$top" rev-parse HEAD >/dev/null 2>&1; then
    cat >.pre-commit-config.yaml <<EOF
repos:
  - repo: $top
    rev: $(git -C "$top" rev-parse HEAD)
    hooks:
      - id: onnxcost-check
        args: [$ARCHIVE, $archive_sum]
EOF
    git add models && env -u ONNXCOST_HWDB pre-commit run onnxcost-check --files models/same.onnx models/a.onnx >"$work/out" 2>&1
    [ $? -eq 1 ] && grep -q 'exit code: 1' "$work/out" && grep -q '^failed  *macs' "$work/out"
    passed $? "$title" "$(cat "$work/out")"
else
    skip "$title" 'pre-commit is missing'
fi

# ---- GitLab: the script of the template
gitlab() { # exit code wanted, title
    env -u ONNXCOST_HWDB ONNXCOST_ARCHIVE="$ARCHIVE" sh -c "$(cat "$work/gitlab.sh")" >"$work/out" 2>"$work/err" </dev/null
    code=$?
    [ $code -eq "$1" ]
    passed $? "$2" "exit code $code
$(cat "$work/out" "$work/err")"
}
ONNXCOST_SHA256=$sum ONNXCOST_MODELS=models/same.onnx ONNXCOST_TOLERANCE='' gitlab 1 'template: another checksum stops'
ONNXCOST_SHA256=$archive_sum ONNXCOST_MODELS='models/same.onnx
models/a.onnx' ONNXCOST_TOLERANCE=2% gitlab 1 'template: a worse model fails'
result 'with a JUnit report of each model' "$(grep -q '<failure' onnxcost-reports/2.xml && grep -q '<testsuite' onnxcost-reports/1.xml &&
    ! grep -q '<failure' onnxcost-reports/1.xml || ls -l onnxcost-reports)"
ONNXCOST_SHA256=$archive_sum ONNXCOST_MODELS=models/same.onnx ONNXCOST_TOLERANCE='' gitlab 0 'template: an unchanged model passes'

# the pipeline of the document, in a repository as it describes it; gitlab-ci-local needs a function of Node.js 22
pipeline() { # exit code wanted, title
    git add . && git -c user.name=t -c user.email=t@example.org commit -q -m models
    env -u ONNXCOST_HWDB -u MODELS node -r "$work/union.cjs" "$GITLAB/dist/index.js" --force-shell-executor cost >"$work/out" 2>&1
    code=$?
    [ $code -eq "$1" ]
    passed $? "$2" "exit code $code
$(tail -n 20 "$work/out")"
}
if [ -e "$GITLAB/dist/index.js" ] && command -v rsync >/dev/null; then
    echo 'Set.prototype.union ??= function (other) { return new Set([...this, ...other]); };' >"$work/union.cjs"
    mkdir -p "$work/pipeline/models" "$work/pipeline/ci" && cp "$top/src/doc/ci/gitlab.yml" "$work/pipeline/ci"
    awk '/^## GitLab/ { below = 1 } inside && /^```$/ { exit } inside { print } below && /^```yaml$/ { inside = 1 }' "$top/src/doc/ci.md" |
        sed "s/ONNXCOST_SHA256: .*/ONNXCOST_SHA256: $archive_sum/" >"$work/pipeline/.gitlab-ci.yml"
    cp models/same.onnx "$work/pipeline/models/detector.onnx" && cp models/same.onnx.baseline.xml "$work/pipeline/models/detector.onnx.baseline.xml"
    cp models/same.onnx "$work/pipeline/models/classifier.onnx" && cp models/same.onnx.baseline.xml "$work/pipeline/models/classifier.onnx.baseline.xml"
    cp models/a.onnx "$work/new.onnx"
    cd "$work/pipeline" || exit 1
    file=$(sed -n 's/^ *ONNXCOST_ARCHIVE: *//p' .gitlab-ci.yml)
    mkdir -p "${file%/*}" && cp "$ARCHIVE" "$file"
    git init -q . && git remote add origin https://git.example/group/project.git && git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/main
    pipeline 0 'gitlab-ci-local: models within their baselines pass'
    cp "$work/new.onnx" models/classifier.onnx
    pipeline 1 'gitlab-ci-local: a worse model fails the job'
    result 'with the limit that failed' "$(grep -q '^cost > failed  *macs' "$work/out" || tail -n 20 "$work/out")"
else
    skip_named 'gitlab-ci-local runs the template' 'gitlab-ci-local or rsync is missing (make action-check)'
fi
finish
