# Creates small files of every kind that the program reads in the current folder. Sourced by the fault tests with $top, the
# tree, and $zoo, the program that writes models.
# shellcheck shell=sh
: "${top:?}" "${zoo:?}"
"$zoo" resnet18 -o m.onnx
"$zoo" keyword_gru -o gru.onnx
"$zoo" llama --size toy -o llm.onnx
"$zoo" squeezenet1_1 --weights random -o weights.onnx
cp "$top/models/profiles/resnet18.all.t1.json.gz" ort.json.gz
gzip -dc ort.json.gz >ort.json
gzip -dc "$top/models/profiles/vgg16.all.t1.json.gz" >vgg16.json
data=$top/tests/data seeds=$top/tests/fuzz/seeds
cp "$data/kineto/small_cuda.json" kineto.json
cp "$data/megengine/mixed.json" mge.json
cp "$data/paddle/small.paddle_trace.json" paddle.json
cp "$data/paddle_report/detail.txt" paddle.txt
cp "$data/chrome/begin_end.json" chrome.json
cp "$data/openvino/detailed.csv" openvino.csv
cp "$data/functions/vtune.tsv" vtune.tsv
cp "$data/mindspore/cpu_op_detail_info_0.csv" cpu_op_detail_info_0.csv
cp "$seeds/tensorrt/fused.profile.json" "$seeds/tensorrt/fused.graph.json" "$seeds/tensorrt/dump.log" .
cp "$seeds/nsys_csv/kern_sum0" nsys.csv
cp "$seeds/nsys_sqlite/layers.sqlite" nsys.sqlite
cp "$seeds/ncu/raw.csv" ncu.csv
cp "$data"/op_tables/* .
cp "$seeds/rocpd/timestamps.db" rocpd.db
cp "$seeds/rocprof_json/markers.json" rocprof.json
cp "$seeds/xplane/gpu.xplane.pb" "$data/ncu/summary.txt" .
cp "$data/paddle_report/summary.txt" paddle_summary.txt
# shellcheck disable=SC2034 # a list for the tests
tables="$(cd "$data/op_tables" && echo *) rocpd.db rocprof.json gpu.xplane.pb summary.txt paddle_summary.txt"
cp "$top/hwdb/op-rules/example.xml" rules.xml
cp "$top/hwdb/kernel-names/example.xml" names.xml
cp "$top/hwdb/budget/example.xml" budget.xml
printf '<baseline version="1"><value metric="macs" is="1"/><forbid type="Loop"/></baseline>' >base.xml
cp "$top/models/profiles/machine.t1.xml" here.xml
cp "$top/hwdb/calibrations/xeon-2-threads.onnxruntime.xml" cal.xml
mkdir -p models recordings o
cp m.onnx gru.onnx models
cp m.onnx recordings/resnet18.onnx && cp ort.json recordings/resnet18.profile.json
