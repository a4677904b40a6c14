/* Texts of several statements of the formula language: splitting them, and the names that they define. */
#include "lang/expr.h"

#include <string.h>

static struct oc_str trim(const char *from, const char *to)
{
    while (from < to && *from == ' ')
        from++;
    while (to > from && to[-1] == ' ')
        to--;
    return (struct oc_str){from, (size_t)(to - from)};
}

bool oc_expr_statement(const char **text, struct oc_expr_statement *out)
{
    const char *at = *text + strspn(*text, " ;");
    if (!*at)
        return false;
    const char *end = at + strcspn(at, ";"), *eq = memchr(at, '=', (size_t)(end - at));
    *text = end;
    out->defines = eq && eq > at && eq[-1] == ':';
    out->left = trim(at, eq ? eq - out->defines : end);
    out->right = trim(eq ? eq + 1 : end, end);
    return true;
}

/* ---- names that are defined later --------------------------------------------------------------------- */

static bool ends(const struct oc_expr_name *name, const struct oc_expr *e, unsigned depth)
{
    if (!e)
        return true;
    if (depth > OC_EXPR_DEPTH)
        return false;
    if (e->kind == OC_X_NAME) /* more than the trees of all names are deep: a name is defined by itself */
        return ends(name, name[e->number].expr, depth + OC_EXPR_DEPTH / OC_EXPR_NAMES);
    return ends(name, e->a, depth + 1) && ends(name, e->b, depth + 1) && ends(name, e->c, depth + 1);
}

static bool define(struct oc_expr_scope *scope, unsigned i, const char *text)
{
    struct oc_expr_statement s;
    while (oc_expr_statement(&text, &s))
        if (s.defines && oc_str_eq(s.left, scope->name[i].name)) {
            scope->name[i].text = oc_strndup(scope->arena, s.right.s, s.right.n);
            scope->name[i].expr = oc_expr_parse_number(scope, scope->name[i].text);
            return scope->name[i].expr != NULL;
        }
    return true;
}

bool oc_expr_define(struct oc_expr_scope *scope, const char *text)
{
    for (unsigned i = 0; i < scope->n_name; i++) /* grows: names in definitions */
        if (!define(scope, i, text))
            return false;
    for (unsigned i = 0; i < scope->n_name; i++)
        if (!ends(scope->name, scope->name[i].expr, 0))
            return false;
    return true;
}
