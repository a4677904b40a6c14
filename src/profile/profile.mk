# The descriptions of printed profiles, compiled in.

# descriptions of printed formats as elements in C
PRINTED := $(sort $(wildcard src/profile/printed/*.xml))
$(GEN)/printed_formats.h: src/profile/printed/make_formats.awk $(PRINTED)
	@mkdir -p $(GEN)
	$(call say,GEN)awk -f $^ >$@.new && mv $@.new $@
$(BUILD)/obj/src/profile/printed/read_format.o: $(GEN)/printed_formats.h
