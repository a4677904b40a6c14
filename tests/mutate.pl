#!/usr/bin/perl
# usage: mutate.pl N SEED FOLDER FILE.c...   writes N mutants of the files to FOLDER/ID/FILE.c and prints a line for each:
# ID <tab> file <tab> line <tab> kind <tab> line before <tab> line after. The same seed and sources give the same mutants.
# A line of a function is drawn, then one of the kinds that apply to it, then one of its places. Functions begin and end with
# a brace in the first column (clang-format), so no parser is needed.
use strict;
use warnings;

my ($wanted, $seed, $folder, @file) = @ARGV;
srand($seed);

# comments, strings and characters, replaced by as many blanks: places in the result are places in the source
sub blank {
    my ($text) = @_;
    $text =~ s{(/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')}
              { my $t = "$1"; my $value = $t =~ m|^["']|; $t =~ s/[^\n]/ /g; $value ? '~' . substr($t, 2) . '~' : $t }gse;
    return $text;
}

my %swap = ('<' => '<=', '<=' => '<', '>' => '>=', '>=' => '>', '==' => '!=', '!=' => '==', '&&' => '||', '||' => '&&',
    '+' => '-', '-' => '+', '*' => '/', '/' => '*', '+=' => '-=', '-=' => '+=', 'true' => 'false', 'false' => 'true');

# Statements that only release resources: without them nothing but memory changes, which ASan's leak check reports.
my $release = qr/free|close|release|destroy|_done\(|unlink|flush/;
my $type = qr/^\s+(?:static|const|struct|enum|unsigned|char|int|double|bool|size_t|u?int\d+_t)\b/;

# the mutations of one line: kind => [[from, length, text]...]
sub mutations {
    my ($s, $before) = @_;
    my %m;
    my $add = sub { my $kind = shift; push @{$m{$kind}}, [@_] };
    $add->(relation => $-[1], length $1, $swap{$1}) while $s =~ / (<=|>=|<|>|==|!=)(?= )/g;
    $add->(logic => $-[1], 2, $swap{$1}) while $s =~ /(&&|\|\|)/g;
    $add->(arithmetic => $-[1], length $1, $swap{$1}) while $s !~ /alloc\(/ && $s =~ /[\w)\]~] ([-+*\/]=?)(?= \S)/g && $swap{$1};
    $add->(boolean => $-[1], length $1, $swap{$1}) while $s =~ /\b(true|false)\b/g;
    $add->(negation => $-[1], 1, '') while $s =~ /(!)(?!=)/g;
    $add->(jump => $-[1], length $1, 'break') while $s =~ /\b(continue)(?=;)/g;
    # sizes of arrays, empty initializers; a block of memory may be larger
    unless ($s =~ $type && $s =~ /\[\d+\]|= \{\s*0?\s*\}/ || $s =~ /alloc\(|OC_NEW_ARRAY\(/) {
        while ($s =~ /(?<![\w.])(\d+)(?![\w.]*[\w.])|(?<![\w.])(\d+)(?=[uU]?[lL]*\b|\.\d|e-?\d)/g) {
            my $n = defined $1 ? $1 : $2;
            next if $n =~ /^0\d/;
            # -1 is "none" or "failed", and so is any other negative number
            my $less = substr($s, $-[0] - 1, 1) eq '-' || ($n > 0 && rand() < 0.5);
            $add->(constant => $-[0], length $n, $less ? $n - 1 : $n + 1);
        }
    }
    # a whole condition on one line
    my ($head, $rest) = $s =~ /^(\s*(?:\} else )?(?:if|while) \()(.*)\)(?: \{)?\s*$/;
    $add->(condition => length $head, length $rest, undef) if defined $rest && balanced($rest);
    # a whole statement on one line: a call or an assignment, no declaration
    ($head, $rest) = $s =~ /^(\s+)((?:\(void\))?[\w.>*\[\]-]+(?:\(.*\)| (?:[-+*\/|&]?=) .*|\+\+|--);)\s*$/;
    if (defined $rest && balanced($rest) && $before =~ /(?:[;{})]|else)\s*$/ && $rest !~ /^return|$release/) {
        $add->(deletion => length $head, length $rest, ';');
    }
    $add->(arguments => $-[1], length("$1, $2"), "$2, $1") while $s =~ /[(,] ?(\w+), (\w+)(?=[,)])/g && $1 ne $2;
    return \%m;
}

sub balanced {
    my ($depth, $lowest) = (0, 0);
    for (split //, shift) {
        $depth += $_ eq '(' ? 1 : $_ eq ')' ? -1 : 0;
        $lowest = $depth if $depth < $lowest;
    }
    return $depth == 0 && $lowest == 0;
}

my (@place, %line);
for my $path (@file) {
    open my $in, '<', $path or die "$path: $!\n";
    my $text = do { local $/; <$in> };
    my @raw = split /\n/, $text, -1;
    my @code = split /\n/, blank($text), -1;
    my ($inside, $before) = (0, '');
    for my $i (0 .. $#code) {
        $inside = 1 if $code[$i] =~ /^\{/;
        $inside = 0 if $code[$i] =~ /^\}/;
        my $m = $inside && $code[$i] !~ /^\s*#|\\$|\bassert\(|^\s*$/ ? mutations($code[$i], $before) : {};
        push @place, [$path, $i, $m] if %$m;
        $before = $code[$i] if $code[$i] =~ /\S/;
    }
    $line{$path} = \@raw;
}

my $id = 0;
while ($id < $wanted && @place) {
    my ($path, $i, $m) = @{splice @place, int rand @place, 1};
    my @kind = sort keys %$m;
    my $kind = $kind[rand @kind];
    my ($from, $length, $new) = @{$m->{$kind}[rand @{$m->{$kind}}]};
    my @mutant = @{$line{$path}};
    my $old = substr $mutant[$i], $from, $length;
    substr($mutant[$i], $from, $length) = defined $new ? $new : "!($old)";
    $id++;
    my ($name) = $path =~ m|([^/]*)$|;
    mkdir "$folder/$id" or die "$folder/$id: $!\n";
    open my $out, '>', "$folder/$id/$name" or die "$folder/$id/$name: $!\n";
    print $out join "\n", @mutant;
    close $out or die "$folder/$id/$name: $!\n";
    my @show = map { s/^\s+//r =~ s/\t/ /gr } $line{$path}[$i], $mutant[$i];
    print join("\t", $id, $path, $i + 1, $kind, @show), "\n";
}
