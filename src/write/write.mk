# What the writers contain: the schemas of JSON, and the pages with their styles and scripts.

# schemas of JSON documents as lines of a string
SCHEMAS := $(wildcard src/write/*.schema.json)
$(GEN)/%_schema.h: src/write/%.schema.json
	@mkdir -p $(GEN)
	$(call say,GEN)sed 's/[\\"]/\\&/g; s/^/"/; s/$$/\\n"/' $< >$@
$(BUILD)/obj/src/write/report_write.o: $(SCHEMAS:src/write/%.schema.json=$(GEN)/%_schema.h)

# the page of the HTML report, with Debian's Chart.js (libjs-chart.js) and dagre (node-dagre-layout), compressed, and their
# licences, as an array of bytes
CHARTJS ?= /usr/share/javascript/chart.js/chart.min.js
CHARTJS_LICENCE ?= /usr/share/doc/libjs-chart.js/copyright
DAGRE ?= /usr/share/nodejs/dagre/dist/dagre.min.js
DAGRE_LICENCE ?= /usr/share/doc/node-dagre-layout/copyright
PAGE := src/write/page
PAGE_JS := $(patsubst %,$(PAGE)/page_%.js,base image data cards grid details tables roofline waste shares structure graph advice memory timeline notes bound live main)

$(GEN)/page.html: $(PAGE)/report.html $(PAGE)/head.html $(PAGE)/report.css $(PAGE_JS) $(CHARTJS) $(CHARTJS_LICENCE) $(DAGRE) $(DAGRE_LICENCE)
	@mkdir -p $(GEN)
	@sed 's/^ *//' $(PAGE_JS) >$(GEN)/page.js
	@sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g' $(CHARTJS_LICENCE) $(DAGRE_LICENCE) >$(GEN)/page_licence.txt
	@for name in chart=$(CHARTJS) dagre=$(DAGRE); do gzip -9nc "$${name#*=}" | base64 | tr -d '\n' >$(GEN)/page_$${name%%=*}.b64 && \
	    echo >>$(GEN)/page_$${name%%=*}.b64; done
	$(call say,GEN)sed -e '/^@head@$$/{r $(PAGE)/head.html' -e 'd;}' -e '/^@css@$$/{r $(PAGE)/report.css' -e 'd;}' -e '/@chart@/{r $(GEN)/page_chart.b64' -e 'd;}' -e '/@dagre@/{r $(GEN)/page_dagre.b64' -e 'd;}' \
	    -e '/^@js@$$/{r $(GEN)/page.js' -e 'd;}' -e '/^@licence@$$/{r $(GEN)/page_licence.txt' -e 'd;}' $< >$@

# the pages of the other commands: the same style, a small script, no chart library
$(GEN)/shell.html: $(PAGE)/shell.html $(PAGE)/head.html $(PAGE)/report.css $(PAGE)/shell.css $(PAGE)/page_shell.js
	@mkdir -p $(GEN)
	@sed 's/^ *//' $(PAGE)/page_shell.js >$(GEN)/shell.js
	$(call say,GEN)sed -e '/^@head@$$/{r $(PAGE)/head.html' -e 'd;}' -e '/^@css@$$/{r $(PAGE)/report.css' -e 'd;}' -e '/^@shell-css@$$/{r $(PAGE)/shell.css' -e 'd;}' \
	    -e '/^@js@$$/{r $(GEN)/shell.js' -e 'd;}' $< >$@

# pages inside other pages: no scripts
$(GEN)/fragment.html: $(PAGE)/fragment.html $(PAGE)/fragment.css
	@mkdir -p $(GEN)
	$(call say,GEN)sed -e '/^@css@$$/{r $(PAGE)/fragment.css' -e 'd;}' $< >$@

$(GEN)/page.c $(GEN)/shell.c $(GEN)/fragment.c: $(GEN)/%.c: $(GEN)/%.html
	$(call say,GEN){ echo '#include "write/tables/html_page.h"'; echo 'const unsigned char oc_$*[] = {'; \
	    od -An -v -tu1 $< | tr -s ' ' ',' | sed 's/^,//; s/$$/,/'; \
	    echo '};'; echo 'const size_t oc_$*_bytes = sizeof(oc_$*);'; } >$@

$(BUILD)/obj/page.o $(BUILD)/obj/shell.o $(BUILD)/obj/fragment.o: $(BUILD)/obj/%.o: $(GEN)/%.c $(BUILD)/flags | $(PB).h $(HEADER_PB).h
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<
