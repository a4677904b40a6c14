# Makes tokens of C (struct oc_xml_token) from the descriptions, so that the program needs no XML parser to read profiles.
# Elements have attributes only; comments are dropped. What is wrong in a description is found when it is read.
function text(s) {
    gsub(/&quot;/, "\"", s); gsub(/&lt;/, "<", s); gsub(/&gt;/, ">", s); gsub(/&amp;/, "\\&", s)
    gsub(/\\/, "\\\\", s); gsub(/"/, "\\\"", s); gsub(/\?/, "\\?", s)
    return "\"" s "\""
}
function flush_file() {
    if (file == "")
        return
    printf "static const struct oc_xml_token printed_%d[] = {\n%s};\n", files, tokens
    names = names sprintf("    {%s, printed_%d, sizeof(printed_%d) / sizeof(*printed_%d)},\n", text(file), files, files, files)
    files++
}
FNR == 1 { flush_file(); file = FILENAME; sub(/.*\//, "", file); tokens = ""; depth = 0; rest = "" }
{
    rest = rest $0 "\n"
    while (1) {
        if (!match(rest, /</)) { rest = ""; break }
        rest = substr(rest, RSTART)
        if (rest ~ /^<!--/) {
            if (!(at = index(rest, "-->"))) break
            rest = substr(rest, at + 3)
        } else if (match(rest, /^<\?[^>]*>/)) {
            rest = substr(rest, RLENGTH + 1)
        } else if (match(rest, /^<\/[a-z]+>/)) {
            depth--
            rest = substr(rest, RLENGTH + 1)
        } else if (match(rest, /^<[a-z]+([ \n\t]+[a-z-]+="[^"]*")*[ \n\t]*\/?>/)) {
            element = substr(rest, 1, RLENGTH); rest = substr(rest, RLENGTH + 1)
            match(element, /^<[a-z]+/)
            token = sprintf("    {\"%s\", (const char *const[]){", substr(element, 2, RLENGTH - 1))
            body = substr(element, RLENGTH + 1)
            while (match(body, /[a-z-]+="[^"]*"/)) {
                one = substr(body, RSTART, RLENGTH); body = substr(body, RSTART + RLENGTH)
                at = index(one, "=")
                token = token sprintf("\"%s\", %s, ", substr(one, 1, at - 1), text(substr(one, at + 2, length(one) - at - 2)))
            }
            tokens = tokens token sprintf("NULL}, %d, %d},\n", depth, FNR)
            if (element !~ /\/>$/) depth++
        } else break
    }
}
END {
    flush_file()
    printf "static const struct {\n    const char *name;\n    const struct oc_xml_token *token;\n    size_t n;\n} printed_documents[] = {\n%s};\n", names
}
