# The table of decoders, from decoders.xml.

# names of fields, words and families of config.json files as rows of a table
$(GEN)/decoders.h: src/model/decoders.xml
	@mkdir -p $(GEN)
	$(call say,GEN)sed -n -e 's|^ *<field is="\([^"]*\)" names="\([^"]*\)"/>|ROW_FIELD(\1, "\2")|p' \
	    -e 's|^ *<word is="\([^"]*\)" names="\([^"]*\)"/>|ROW_WORD(\1, "\2")|p' -e 's|^ *<nested names="\([^"]*\)"/>|ROW_NESTED("\1")|p' \
	    -e 's|^ *<tensor names="\([^"]*\)" set="\([^"]*\)"/>|ROW_TENSOR("\1", "\2")|p' -e 's|^ *<part names="\([^"]*\)"/>|ROW_PART("\1")|p' -e 's|^ *<ignored names="\([^"]*\)"/>|ROW_IGNORED("\1")|p' \
	    -e 's|^ *<family names="\([^"]*\)"\( gguf="\([^"]*\)"\)\?\( set="\([^"]*\)"\)\?/>|ROW_FAMILY("\1", "\3", "\5")|p' $< >$@
$(BUILD)/obj/src/model/decoder_fields.o: $(GEN)/decoders.h
