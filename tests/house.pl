#!/usr/bin/perl
# usage: house.pl [FOLDER...]   figures of the sources: files, headers, folders, sizes, names. Default: src.
# Definitions begin in the first column (clang-format), so no parser is needed.
use strict;
use warnings;

my @root = @ARGV ? @ARGV : ('src');
my @file = grep { /\.[ch]$/ } split /\n/, `git ls-files @root`;
my (%lines, %folder, %statics, %extern, %public, %included, @size, @function);
my ($n_c, $n_h, $small, $mutable) = (0, 0, 0, 0);

sub text_of {
    local (@ARGV, $/) = @_;
    return scalar <>;
}

for my $path (@file) {
    my $text = text_of($path);
    my $n = () = $text =~ /\n/g;
    my ($folder) = $path =~ m|^(.*)/|;
    $lines{$path} = $n;
    if ($path =~ /\.h$/) {
        $n_h++;
        $small++ if $n < 25;
    } else {
        $n_c++;
        $folder{$folder}++;
        push @size, $n;
        $mutable++ while $text =~ /^static (?!const|inline|_Thread_local|struct \w+ \w+\()(?:[\w *]*?)(\w+)(?:\[\w*\])*(?: = [^()]*)?;$/mg;
    }
    $included{$1}{$path} = 1 while $text =~ /^#include "([^"]+)"/mg;
    my %own;
    while ($text =~ /^(static )?(?:inline )?(?!return|typedef|else|case|#)[A-Za-z_][\w ]*?[ *](\w+)\((?:[^;{}]|\n)*?\)\n\{\n(.*?)^\}/msg) {
        my ($static, $name, $body) = ($1, $2, $3);
        push @function, ($body =~ tr/\n//) + 2;
        $static ? ($own{$name} = 1) : ($extern{$name} = $path) unless $path =~ /\.h$/;
    }
    $statics{$_}{$path} = 1 for keys %own;
}
my @header = grep { -e "src/$_" } 'onnxcost_types.h', 'onnxcost.h', map { s|^src/||r } glob 'src/onnxcost/*.h';
for (@header) {
    my $text = text_of("src/$_");
    $public{$1} = 1 while $text =~ /\b(oc_\w+)\(/g;
}

# Names of files that are gone, of two words or more: a function that begins with one was named after its file. Without a
# history there are none.
my %gone = map { m|(\w+_\w+)\.[ch]$| ? ($1 => 1) : () } split /\n/, `git log --diff-filter=D --name-only --format= -- @root 2>&-`;
delete @gone{map { m|(\w+)\.[ch]$| } @file};

sub is_stale {
    my ($name, $path) = @_;
    my @part = split /_/, $name;
    for my $n (2 .. $#part) {
        my $prefix = join '_', @part[0 .. $n - 1];
        return 1 if $gone{$prefix} && index($path, $prefix) < 0;
    }
    return 0;
}

# Files that see a header: directly or by others.
sub fan_in {
    my ($name) = @_;
    my (%seen, @todo) = ();
    push @todo, $name;
    while (defined(my $h = shift @todo)) {
        for my $user (keys %{$included{$h} || {}}) {
            next if $seen{$user}++;
            (my $as = $user) =~ s|^src/||;
            push @todo, $as if $user =~ /\.h$/;
        }
    }
    return scalar grep { /\.c$/ } keys %seen;
}

sub rank {
    my ($share, @v) = @_;
    @v = sort { $a <=> $b } @v;
    return @v ? $v[int($share * $#v)] : 0;
}

my $total = 0;
$total += $_ for values %lines;
my @names = keys %statics;
my @shared = grep { keys %{$statics{$_}} > 1 } @names;
my @word = grep { !/_/ } @names;
my @stale = grep { my $name = $_; grep { is_stale($name, $_) } keys %{$statics{$name}} } @names;
my @inner = grep { /^oc_/ && !$public{$_} } keys %extern;
my @wide = sort { $folder{$b} <=> $folder{$a} } keys %folder;

printf "%-46s %d\n", 'lines of src (.c and .h)', $total;
printf "%-46s %d\n", '.c files', $n_c;
printf "%-46s %d\n", 'headers', $n_h;
printf "%-46s %d\n", 'headers under 25 lines', $small;
printf "%-46s %d (%s)\n", 'largest folder, .c files', $folder{$wide[0]}, $wide[0];
printf "%-46s %d %d %d\n", 'lines of a .c file: median, p90, most', rank(.5, @size), rank(.9, @size), rank(1, @size);
printf "%-46s %d %d %d\n", 'lines of a function: median, p90, most', rank(.5, @function), rank(.9, @function), rank(1, @function);
printf "%-46s %d\n", 'functions', scalar @function;
printf "%-46s %.1f %% (%d of %d)\n", 'static names in two files or more', 100 * @shared / (@names || 1), scalar @shared, scalar @names;
printf "%-46s %.1f %%\n", 'static names of one word', 100 * @word / (@names || 1);
printf "%-46s %d\n", 'static names with the name of a file that is gone', scalar @stale;
printf "%-46s %d\n", 'internal functions shared by files', scalar @inner;
printf "%-46s %d\n", ".c files that see $_", fan_in($_) for @header;
if ($ENV{NAMES}) {
    print "stale $_\n" for sort @stale;
    printf "%4d %s\n", scalar keys %{$statics{$_}}, $_ for sort { keys %{$statics{$b}} <=> keys %{$statics{$a}} || $a cmp $b } @shared;
}
