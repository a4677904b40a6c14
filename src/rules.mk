# How a source becomes an object, and the objects the libraries and the program. What is generated from data of one folder
# is made by the fragment of that folder.

$(GEN)/%.pb-c.c $(GEN)/%.pb-c.h: proto/%.proto
	@mkdir -p $(GEN)
	@command -v protoc-c >/dev/null || .ci/setup -n build
	$(call say,PROTO)protoc-c --proto_path=proto --c_out=$(GEN) $<
	@sed -i '/^char .*__default_value\[]\|^extern char .*__default_value\[]/s/char/const char/' $(GEN)/$*.pb-c.[ch]

# Changed flags or folders rebuild everything of the mode.
FLAGS_TEXT = $(CC) $(CPPFLAGS) $(FLAGS_$(MODE)) $(SHARED_CFLAGS) $(HARDEN) $(CFLAGS) $(LINK_$(MODE)) $(FUZZ_LINK)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FLAGS_TEXT))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(FLAGS_TEXT))' >$@

$(BUILD)/obj/%.o: %.c $(BUILD)/flags | $(PB).h $(HEADER_PB).h $(DECODERS)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/obj/%.pb-c.o: $(GEN)/%.pb-c.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CPPFLAGS) -std=gnu11 $(FLAGS_$(MODE)) $(PREFIX_MAP) $(SHARED_CFLAGS) -w -MMD -MP -c -o $@ $<

# the installation folder of data: in one file only, so that another prefix does not rebuild everything
data := $(datadir)/onnxcost
$(BUILD)/data_place: FORCE
	@mkdir -p $(@D)
	@echo '$(data)' | cmp -s - $@ || echo '$(data)' >$@
$(BUILD)/obj/src/base/file.o: $(BUILD)/data_place
$(BUILD)/obj/src/base/file.o: private CPPFLAGS += -DOC_DATADIR='"$(data)"'

# The commit, for `onnxcost --version --verbose`: read at each build, from the file .commit in a source archive, and written when
# it changed. Uncommitted changes are not marked: tests that write files would cause the program to be linked again while others
# use it.
COMMIT = $(shell cat .commit 2>/dev/null || git rev-parse --short=12 HEAD 2>/dev/null)
$(GEN)/build_info.h: FORCE
	@mkdir -p $(@D)
	@echo '#define ONNXCOST_COMMIT "$(COMMIT)"' | cmp -s - $@ || echo '#define ONNXCOST_COMMIT "$(COMMIT)"' >$@
$(BUILD)/obj/src/cli/cmd_help.o: $(GEN)/build_info.h

$(GEN)/op_tests.h: tests/data/op_tests.tsv
	@mkdir -p $(GEN)
	$(call say,GEN)awk -F '\t' '!/^#/ { printf "{\"%s\", \"%s\", %d, %d, %d, %d},\n", $$1, $$2, $$3, $$4, $$5, $$6 }' $< >$@
$(BUILD)/obj/src/ops/op_table.o: $(GEN)/op_tests.h

GENERATED := $(BUILD)/obj/page.o $(BUILD)/obj/shell.o $(BUILD)/obj/fragment.o $(BUILD)/obj/onnx_header.pb-c.o
$(LIB): $(call obj,$(LIB_SRC)) $(GENERATED)
	@rm -f $@
	$(call say,AR)$(AR) rcsD $@ $^

$(SHARED): $(call obj,$(LIB_SRC)) $(GENERATED) src/onnxcost.map
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) -shared -Wl,-soname,$(@F) -Wl,--version-script,src/onnxcost.map \
	    $(if $(filter release debug,$(MODE)),-Wl$(comma)-z$(comma)defs) -o $@ $(filter %.o,$^) $(LIBS)

# atomically: a program started during the build is the old or the new one
$(BIN): $(call obj,$(CLI_SRC)) $(LIB)
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) $(PIE) -o $@.new $^ $(LIBS) && mv -f $@.new $@

# libxml2: headers only, the library is loaded when an XML file is read
XML2_CPPFLAGS := $(if $(filter-out musl wasm mingw,$(MODE)),$(shell xml2-config --cflags 2>/dev/null || echo -I/usr/include/libxml2))
# private: otherwise the flags file, a prerequisite, would get them too
$(BUILD)/obj/src/base/xml_%.o: private CPPFLAGS += $(XML2_CPPFLAGS)

# measurement kernels: the same in every mode, with fused multiply-adds
$(BUILD)/obj/src/measure/cpu_kernels.o: private KERNEL_CFLAGS := -O2 -ffp-contract=fast -fno-sanitize=all

.SECONDARY:
-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
