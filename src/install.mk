#: make install      into DESTDIR and prefix; uninstall removes it

bashdir ?= $(datadir)/bash-completion/completions
zshdir ?= $(datadir)/zsh/site-functions
fishdir ?= $(datadir)/fish/vendor_completions.d
docdir ?= $(datadir)/doc/onnxcost
DOCS := README.md LICENSE
PAGES := $(notdir $(wildcard src/man/*.[157]))
page_place = $(mandir)/man$(subst .,,$(suffix $(1)))/$(1)
# a path below the prefix, by its name in onnxcost.pc
below_prefix = $(patsubst $(prefix)/%,$${prefix}/%,$(1))

$(BUILD)/onnxcost.pc: src/onnxcost.pc.in FORCE
	@sed -e 's|@prefix@|$(prefix)|' -e 's|@libdir@|$(call below_prefix,$(libdir))|' \
	    -e 's|@includedir@|$(call below_prefix,$(includedir))|' -e 's|@datadir@|$(call below_prefix,$(data))|' \
	    -e 's|@version@|$(VERSION)|' $< >$@

$(BUILD)/completion/%: $(BIN)
	@mkdir -p $(@D)
	@$(RUN) $(BIN) completion $* -o $@

install: install-program install-library
	@$(if $(DESTDIR),:,! ldconfig 2>/dev/null || echo 'the dynamic linker has cached $(libdir)')

install-library: $(LIB) $(SHARED) $(BUILD)/onnxcost.pc
	$(INSTALL) -d $(addprefix $(DESTDIR),$(libdir)/pkgconfig $(includedir)/onnxcost)
	$(INSTALL) -m 644 $(LIB) $(DESTDIR)$(libdir)/libonnxcost.a
	$(INSTALL) -m 644 $(SHARED) $(DESTDIR)$(libdir)/libonnxcost.so.$(VERSION)
	ln -sf libonnxcost.so.$(VERSION) $(DESTDIR)$(libdir)/libonnxcost.so.$(ABI)
	ln -sf libonnxcost.so.$(ABI) $(DESTDIR)$(libdir)/libonnxcost.so
	$(INSTALL) -m 644 $(BUILD)/onnxcost.pc $(DESTDIR)$(libdir)/pkgconfig/onnxcost.pc
	$(INSTALL) -m 644 src/onnxcost.h src/onnxcost_types.h $(DESTDIR)$(includedir)
	$(INSTALL) -m 644 $(wildcard src/onnxcost/*.h) $(DESTDIR)$(includedir)/onnxcost

install-program: $(BIN) man $(addprefix $(BUILD)/completion/,bash zsh fish)
	$(INSTALL) -d $(addprefix $(DESTDIR),$(bindir) $(addprefix $(mandir)/man,1 5 7) $(docdir)/src/doc/ci $(data)/man $(bashdir) $(zshdir) $(fishdir) \
	    $(addprefix $(data)/,$(DATA_DIRS)))
	$(INSTALL) -m 755 $(BIN) $(DESTDIR)$(bindir)/onnxcost
	$(foreach page,$(PAGES),$(INSTALL) -m 644 $(BUILD)/man/$(page) $(DESTDIR)$(call page_place,$(page)) && ):
	$(INSTALL) -m 644 $(BUILD)/man/*.txt $(DESTDIR)$(data)/man
	$(INSTALL) -m 644 $(BUILD)/completion/bash $(DESTDIR)$(bashdir)/onnxcost
	$(INSTALL) -m 644 $(BUILD)/completion/zsh $(DESTDIR)$(zshdir)/_onnxcost
	$(INSTALL) -m 644 $(BUILD)/completion/fish $(DESTDIR)$(fishdir)/onnxcost.fish
	$(INSTALL) -m 644 $(DOCS) $(DESTDIR)$(docdir)
	$(INSTALL) -m 644 $(wildcard src/doc/*.md src/doc/*.png) $(DESTDIR)$(docdir)/src/doc
	$(INSTALL) -m 644 $(wildcard src/doc/ci/*) $(DESTDIR)$(docdir)/src/doc/ci
	$(INSTALL) -m 644 $(SCHEMAS) $(DESTDIR)$(data)
	$(foreach dir,$(DATA_DIRS),$(INSTALL) -m 644 $(call data_files,$(dir)) $(DESTDIR)$(data)/$(dir) && ):

uninstall:
	rm -f $(addprefix $(DESTDIR),$(bindir)/onnxcost $(libdir)/libonnxcost.a $(libdir)/libonnxcost.so \
	    $(libdir)/libonnxcost.so.$(ABI) $(libdir)/libonnxcost.so.$(VERSION) $(libdir)/pkgconfig/onnxcost.pc \
	    $(includedir)/onnxcost.h $(includedir)/onnxcost_types.h $(bashdir)/onnxcost $(zshdir)/_onnxcost \
	    $(fishdir)/onnxcost.fish $(foreach page,$(PAGES),$(call page_place,$(page))))
	rm -rf $(DESTDIR)$(data) $(DESTDIR)$(docdir) $(DESTDIR)$(includedir)/onnxcost
