# onnxzoo: the networks of models/ as a library and a program.

$(ZOO_LIB): $(call obj,$(filter-out models/zoo_main.c,$(ZOO_SRC)))
	@rm -f $@
	$(call say,AR)$(AR) rcsD $@ $^

$(ZOO): $(call obj,models/zoo_main.c) $(ZOO_LIB) $(call obj,$(wildcard tests/support/build*.c)) $(PB_OBJ) $(LIB)
	$(call say,LINK)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)
