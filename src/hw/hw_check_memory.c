/* Memories: compares the bandwidth implied by the name of the type, and checks data rates against the type's
 * maximum. */
#include "hw/hw_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "hw/figure.h"

#define WORDS    24   /* number of formula factors examined */
#define ROUNDING 0.03 /* Intel writes 41.6 GB/s for two channels of DDR4-2666 */

/* Highest data rate per pin of parts of the type on sale, Gbit/s. Longer names first. */
static const struct {
    const char *type;
    double max;
} rates[] = {
    {"LPDDR5X", 10.7}, {"LPDDR5", 6.4}, {"LPDDR4", 4.267}, {"GDDR5X", 12}, {"GDDR6X", 24},
    {"GDDR5", 9},      {"GDDR6", 24},   {"GDDR7", 36},     {"DDR4", 3.2},  {"DDR5", 8.8},
    {"HBM2e", 3.6},    {"HBM3e", 9.8},  {"HBM2", 2.43},    {"HBM3", 6.4},
};

static bool starts_with(const char *text, const char *with)
{
    size_t n = strlen(with);
    for (size_t i = 0; i < n; i++)
        if (oc_fold_char(text[i]) != oc_fold_char(with[i]))
            return false;
    return true;
}

/* The number before the word: ", 8 channels" is 8 for " channel"; 0 if there is none. */
static double number_before(const char *text, const char *word)
{
    const char *end = strstr(text, word), *p = end;
    while (p && p > text && p[-1] >= '0' && p[-1] <= '9')
        p--;
    return p && p < end ? (double)strtol(p, NULL, 10) : 0;
}

/* Bandwidth implied by "DDR5-4800, 8 channels" or "LPDDR4X-4267, 32 bit". */
static void check_type(const struct oc_hw_check *c, const struct oc_hw_level *level)
{
    const struct oc_hw_figure *f = level->bandwidth;
    const char *dash = strchr(level->type, '-');
    double rate = dash ? (double)strtol(dash + 1, NULL, 10) * 1e6 : 0;
    double bytes = 8 * number_before(level->type, " channel") + number_before(level->type, " bit") / 8;
    if (rate <= 0 || bytes <= 0 || fabs(rate * bytes - f->value) <= ROUNDING * f->value)
        return;
    oc_hw_check_note(c, oc_hw_check_line(c, f), "%s: %s gives %.6g GB/s, value is %s", oc_hw_check_name(c, f),
                     level->type, rate * bytes / 1e9, f->text);
}

static double most_of(const char *type)
{
    for (size_t i = 0; i < OC_COUNT(rates); i++)
        if (starts_with(type, rates[i].type))
            return rates[i].max;
    return 0;
}

/* A rate above the type's maximum belongs to another generation, or is counted twice. */
static void check_rate(const struct oc_hw_check *c, const struct oc_hw_level *level)
{
    const struct oc_hw_figure *f = level->bandwidth;
    struct oc_formula_word word[WORDS];
    size_t n = f->formula ? oc_formula_words(f->formula, word, WORDS) : 0;
    double most = most_of(level->type);
    for (size_t i = 0; i < n && most > 0; i++) {
        bool giga = strcmp(word[i].word, "Gbit/s") == 0 || strcmp(word[i].word, "GT/s") == 0;
        bool mega = strcmp(word[i].word, "Mbit/s") == 0 || strcmp(word[i].word, "MT/s") == 0;
        if ((giga || mega) && word[i].number > (1 + OC_HW_TOLERANCE) * most * (mega ? 1000 : 1))
            oc_hw_check_note(c, oc_hw_check_line(c, f),
                             "%s: formula has %.6g %s; the maximum of %s is %.6g Gbit/s",
                             oc_hw_check_name(c, f), word[i].number, word[i].word, level->type, most);
    }
}

void oc_hw_check_memory(const struct oc_hw_check *c)
{
    for (size_t i = 0; i < c->d->n_level; i++) {
        const struct oc_hw_level *level = &c->d->level[i];
        if (!level->type || !level->bandwidth)
            continue;
        check_type(c, level);
        check_rate(c, level);
    }
}
