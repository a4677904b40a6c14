# manual pages: lists of options, limits and formats come from the program; RUN: starts it where it was cross-compiled
RUN ?=
$(BUILD)/man/made: $(BIN) $(wildcard src/man/*)
	$(call say,MAN)src/man/make_pages.sh '$(RUN) $(BIN)' $(@D) && touch $@
