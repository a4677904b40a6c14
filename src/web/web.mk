# The program as WebAssembly: a page for the browser and a package for node (src/doc/web.md).
#: make web          the program for the browser (build/web/onnxcost.html) and for node (build/web/npm); web-check tests both

WASM_LIB := build/wasm/lib
WASM_LIBS := $(patsubst %,$(WASM_LIB)/lib%.a,xml2 sqlite3 pcre2-8 protobuf-c z)
WASM_LINK := -Os -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=4GB -sTOTAL_STACK=8MB -sMODULARIZE -sEXPORT_NAME=createOnnxcost -sEXIT_RUNTIME=1 \
    -sINVOKE_RUN=0 -sEXPORTED_RUNTIME_METHODS=callMain,FS,ENV
WASM_LINK_web := -sENVIRONMENT=web,worker -sFORCE_FILESYSTEM -lworkerfs.js
WASM_LINK_node := -sENVIRONMENT=node -sNODERAWFS
WEB_SRC := $(wildcard src/web/* src/write/page/report.css)

web:
	@.ci/setup web
	@+$(MAKE) --no-print-directory $(PARALLEL) $(WASM_LIB)/copyright
	@+$(MAKE) --no-print-directory $(PARALLEL) MODE=wasm web-files

build/%/lib/copyright: src/web/make_libs.sh
	$(call say,LIBS)src/web/make_libs.sh $* $(@D)

# in MODE=wasm
web-files: build/web/onnxcost.html
build/wasm/web.js build/wasm/node.js: build/wasm/%.js: $(call obj,$(CLI_SRC)) $(LIB) $(WASM_LIB)/copyright
	$(call say,LINK)$(CC) $(WASM_LINK) $(WASM_LINK_$*) -o $@ $(filter %.o %.a,$^) $(WASM_LIBS)
build/web/onnxcost.html: build/wasm/web.js build/wasm/node.js $(WEB_SRC) $(foreach dir,$(DATA_DIRS),$(call data_files,$(dir)))
	$(call say,WEB)node src/web/make_web.js $(@D) $(VERSION) build/wasm $(WASM_LIB) $(filter hwdb/%,$^)

web-check: all python web browser
	@BUILD=$(BUILD) tests/check_web.sh
