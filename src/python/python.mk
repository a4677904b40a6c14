#: make wheel        Python package in build/wheel; python: without its library, in build/python

# The package without its library: the module _api.py is made from the headers. ONNXCOST_LIBRARY=$(SHARED)
PYTHON ?= python3
PYTHON_DIR := build/python
PYTHON_SRC := $(wildcard src/python/onnxcost/*)
HEADERS := src/onnxcost_types.h src/onnxcost.h $(wildcard src/onnxcost/*.h)
$(PYTHON_DIR)/onnxcost/_api.py: src/python/make_api.py $(HEADERS) $(PYTHON_SRC)
	@rm -rf $(@D) && mkdir -p $(@D) && cp $(filter %.py %.typed,$(PYTHON_SRC)) $(@D)
	$(call say,GEN)$(PYTHON) $< libonnxcost.so.$(ABI) $(HEADERS) >$@.new && mv $@.new $@
python: $(PYTHON_DIR)/onnxcost/_api.py

# The library of the wheel has protobuf-c inside (Debian's static library), so that it needs only what every Linux system has.
PROTOBUF_C_LICENCE ?= /usr/share/doc/libprotobuf-c-dev/copyright
WHEEL_SHARED := $(BUILD)/wheel/libonnxcost.so.$(ABI)
$(WHEEL_SHARED): $(LIB) src/onnxcost.map
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) -s -shared -Wl,-soname,$(@F) -Wl,--version-script,src/onnxcost.map -Wl,-z,defs \
	    -o $@ -Wl,--whole-archive $(LIB) -Wl,--no-whole-archive -Wl,-Bstatic -lprotobuf-c -Wl,-Bdynamic $(filter-out -lprotobuf-c,$(LIBS))

WHEEL_DIR ?= build/wheel
wheel: python $(WHEEL_SHARED)
	@$(PYTHON) src/python/make_wheel.py $(WHEEL_DIR) $(PYTHON_DIR)/onnxcost $(WHEEL_SHARED) src/doc/python.md \
	    LICENSE $(PROTOBUF_C_LICENCE) -- $(foreach dir,$(DATA_DIRS),$(call data_files,$(dir)))
