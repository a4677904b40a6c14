# The table of decoders, from decoders.xml.

# names of fields, words and families of config.json files: lists of their own names, and rows of a table
DECODERS := $(GEN)/decoders.h
$(DECODERS): src/model/decoders.xml
	@mkdir -p $(GEN)
	$(call say,GEN){ printf '#define OC_EACH_FIELD(X)'; sed -n -e 's|^ *<field is="\([^"]*\)".*|\1|p' -e 's|^ *<only names="\([^"]*\)"/>|\1|p' $< | \
	    tr ' ' '\n' | sed 's|.*| X(&)|' | tr -d '\n'; \
	    printf '\n#define OC_EACH_WORD(X)'; sed -n 's|^ *<word is="\([^"]*\)".*| X(\1)|p' $< | tr -d '\n'; \
	    printf '\n#define OC_DECODER_ROWS'; \
	    sed -n -e 's|^ *<field is="\([^"]*\)" names="\([^"]*\)"/>| ROW_FIELD(\1, "\2")|p' \
	    -e 's|^ *<word is="\([^"]*\)" names="\([^"]*\)"/>| ROW_WORD(\1, "\2")|p' -e 's|^ *<nested names="\([^"]*\)"/>| ROW_NESTED("\1")|p' \
	    -e 's|^ *<tensor names="\([^"]*\)" set="\([^"]*\)"/>| ROW_TENSOR("\1", "\2")|p' -e 's|^ *<defaults names="\([^"]*\)" set="\([^"]*\)"/>| ROW_DEFAULTS("\1", "\2")|p' -e 's|^ *<refused names="\([^"]*\)" set="\([^"]*\)"/>| ROW_REFUSED("\1", "\2")|p' -e 's|^ *<part names="\([^"]*\)"/>| ROW_PART("\1")|p' -e 's|^ *<ignored names="\([^"]*\)"/>| ROW_IGNORED("\1")|p' \
	    -e 's|^ *<family names="\([^"]*\)"\( gguf="\([^"]*\)"\)\?\( set="\([^"]*\)"\)\?/>| ROW_FAMILY("\1", "\3", "\5")|p' $< | tr -d '\n'; echo; } >$@
