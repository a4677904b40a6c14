#!/usr/bin/perl
# Finds phrases of tests/words.tsv in what people read: comments, string literals, documents, test names, help texts.
# usage: words.pl TABLE [FILE...]          list the hits; exit code 1 when there is one
#        words.pl TABLE --text [FILE...]   print every text that is checked, as file:line: kind: text
#        words.pl TABLE --self-test        every pattern must find its example, every form of file its fixture
#        words.pl TABLE --sample N BASE [FILE...]  N random pairs of strings, at the commit BASE and now
use strict;
use warnings;

my (@rules, @allow);

sub read_table {
    my ($name) = @_;
    open my $in, '<', $name or die "words: cannot read $name: $!\n";
    while (my $line = <$in>) {
        chomp $line;
        next if $line =~ /^(#|$)/;
        my @f = split /\t/, $line, -1;
        die "$name:$.: 4 columns are needed, separated by tabs\n" unless @f == 4 && !grep { $_ eq '' } @f;
        if ($f[0] eq 'allow') {
            push @allow, {path => qr/$f[1]/, text => qr/$f[2]/, line => $., used => 0};
            next;
        }
        die "$name:$.: unknown kind '$f[2]'\n" unless $f[2] =~ /^(string|comment|doc|name|all)$/;
        my $pattern = $f[0] =~ s/(\(\?<[^)]*\)|\[[^\]]*\])| /$1 \/\/ '\\s+'/ger; # not in a look-behind, not in a class
        push @rules, {re => qr/$pattern/i, text => $f[0], instead => $f[1], kind => $f[2], example => $f[3], line => $.};
    }
}

# ---- texts of a file: [line, kind, text]; texts keep their line breaks, so that a phrase may run over two lines ----
sub line_of { return 1 + (substr($_[0], 0, $_[1]) =~ tr/\n//) }

# C and JavaScript: comments, with consecutive // lines joined; adjacent string literals joined; names of functions
sub texts_of_code {
    my ($src, $js) = @_;
    my $quote = $js ? qr/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/s : qr/"(?:[^"\\\n]|\\.)*"/s;
    my $skip = $js ? qr{[=(,:!&|?;]\s*/(?![*/\s])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/} : qr/'(?:[^'\\\n]|\\.)+'/;
    my $name = $js ? qr/(?!)/ : qr/\n[a-zA-Z][\w \t*]*?\b(?<name>\w+)\([^;{}]*\)\s*\n?(?=\{)/;
    my ($line, $end, $last_string, @out) = (1, 0);
    while ($src =~ m{(?<comment>/\*.*?\*/|//[^\n]*)|(?<quote>$quote)|$skip|$name|cmocka_unit_test\w*\((?<test>\w+)}gs) {
        my ($from, $to) = ($-[0], $+[0]);
        my ($comment, $string, $function, $test) = @+{qw(comment quote name test)};
        my $gap = substr($src, $end, $from - $end);
        $line += ($gap =~ tr/\n//);
        if (defined $comment) {
            my $joins = $comment =~ s{^//}{} && @out && $out[-1][1] eq 'comment' && $out[-1][3] == $line - 1;
            $comment =~ s{^/\*+<?|\*/$}{}g;
            $comment =~ s/^\s*\*+//mg;
            if ($joins) {
                $out[-1][2] .= "\n$comment";
                $out[-1][3] = $line;
            } else {
                push @out, [$line, 'comment', $comment, $line];
            }
        } elsif (defined $string) {
            $string = substr($string, 1, -1) =~ s/\\n/ /gr =~ s/\\[tr"']/ /gr;
            if ($last_string && $gap =~ /^(?:\s|PRI\w+)*$/) {
                $last_string->[2] .= "\n" x ($gap =~ tr/\n//) . $string;
            } else {
                push @out, $last_string = [$line, 'string', $string];
            }
        } elsif (defined $function) {
            push @out, [$line + 1, 'name', $function];
        } elsif (defined $test) {
            push @out, [$line, 'test', $test =~ tr/_/ /r];
        }
        $last_string = undef unless defined $string;
        $line += (substr($src, $from, $to - $from) =~ tr/\n//);
        $end = $to;
    }
    return @out;
}

# whole lines, one text per paragraph
sub texts_of_document {
    my ($src, $kind) = @_;
    my ($line, $start, $text, @out) = (0, 1, '');
    for (split(/\n/, $src, -1), '') {
        $line++;
        if (/^\s*(?:[.]\\"|$)/ || /^\s*[|#]/) {
            push @out, [$start, $kind, $text] if $text =~ /\S/;
            ($start, $text) = ($line + 1, '');
            push @out, [$line, $kind, $_] if /\S/;
        } else {
            $start = $line if $text eq '';
            $text .= ($text eq '' ? '' : "\n") . s/\\-/-/gr =~ s/\\f[BIPR]|\\&//gr;
        }
    }
    push @out, [$start, $kind, $text] if $text =~ /\S/;
    return @out;
}

# shell, Python, Makefile: comments, joined over lines; what is quoted; here-documents
sub texts_of_script {
    my ($src) = @_;
    my ($line, $here, @out) = (0);
    while ($src =~ /("""|''')(.*?)\1/s) { # of Python
        my ($from, $to, $text) = ($-[0], $+[0], $2);
        push @out, [line_of($src, $from), 'string', $text, 0];
        substr($src, $from, $to - $from) = $text =~ s/[^\n]+//gr;
    }
    for (split /\n/, $src) {
        $line++;
        if (defined $here) {
            if (/^\s*\Q$here\E$/) { $here = undef } else { push @out, [$line, 'string', $_] }
            next;
        }
        $here = $1 if /<<-?\s*[\\'"]?([A-Za-z]\w*)['"]?/;
        if (/^\s*#+!?(.*)/) {
            if (@out && $out[-1][1] eq 'comment' && $out[-1][3] == $line - 1) {
                $out[-1][2] .= "\n$1";
                $out[-1][3] = $line;
            } else {
                push @out, [$line, 'comment', $1, $line];
            }
            next;
        }
        while (/"((?:[^"\\]|\\.)*)"|'([^']*)'|\s#\s(.*)/g) {
            push @out, defined $3 ? [$line, 'comment', $3, 0] : [$line, 'string', $1 // $2];
        }
    }
    return @out;
}

sub texts_matching { # every match of a pattern with one group
    my ($src, $re, $kind) = @_;
    my @out;
    push @out, [line_of($src, $-[1]), $kind, $1] while $src =~ /$re/g;
    return @out;
}

sub read_file {
    my ($name) = @_;
    open my $in, '<', $name or die "words: cannot read $name: $!\n";
    local $/ = undef;
    return <$in> // '';
}

sub texts_of {
    my ($name) = @_;
    my $src = read_file($name);
    return texts_of_code($src, 0) if $name =~ /\.[ch]$/;
    return texts_of_code($src, 1) if $name =~ /\.js$/;
    return texts_matching($src, qr{/\*(.*?)\*/}s, 'comment') if $name =~ /\.css$/;
    return texts_matching($src, qr{"(?:description|title|\$comment)"\s*:\s*"((?:[^"\\]|\\.)*)"}, 'doc') if $name =~ /\.json$/;
    return (texts_matching($src, qr{<!--(.*?)-->}s, 'comment'), texts_matching($src, qr{<(?:note|reason|\w+:documentation)>([^<]*)}, 'doc'))
        if $name =~ /\.(xml|rng)$/;
    return texts_of_script($src) if $name =~ m{\.(sh|py|pl|mk)$|(^|/)Makefile$|^\.ci/|deb/rules$};
    return texts_of_document($src, 'doc');
}

# ---- hits ----------------------------------------------------------------------------------------------------------
my %applies = (
    string => qr/^(string|all)$/, comment => qr/^(comment|all)$/, doc => qr/^(doc|string|all)$/,
    test => qr/^(comment|string|all)$/, name => qr/^name$/
);
my %quick;

# Words of which every match has one: a search for plain words is many times faster than one for patterns.
sub literals_of {
    my ($pattern) = @_;
    my $group = qr/(\((?:[^()]++|(?-1))*\))/;
    (my $plain = lc $pattern) =~ s/\(\?<?[!=](?:[^()]++|$group)*\)|\\.|[\^\$]//g;
    my @branches = ('');
    for my $part ($plain =~ /((?:\((?:[^()]++|\((?:[^()]++|\([^()]*\))*\))*\)[?*]?(?:\{[^}]*\})?)|\||[^(|]+)/g) {
        $part eq '|' ? push(@branches, '') : ($branches[-1] .= $part);
    }
    my @out;
    for my $branch (@branches) {
        (my $outside = $branch) =~ s/$group(?:[?*]|\{[^}]*\})?|\[[^\]]*\]|.[?*]|[^a-z ]/|/g;
        my ($longest) = sort { length $b <=> length $a } split(/\|/, $outside), '';
        push @out, length $longest < 3 && $branch =~ /\(\?:(.*)\)/ ? literals_of($1) : $longest;
    }
    return @out;
}

sub rules_for {
    my ($kind) = @_;
    return $quick{$kind} //= do {
        my @some = grep { $_->{kind} =~ $applies{$kind} } @rules;
        my $any = join '|', map { quotemeta } map { literals_of($_->{text}) } @some;
        [qr/$any/, \@some];
    };
}

sub is_allowed {
    my ($name, $text) = @_;
    for my $rule (@allow) {
        return $rule->{used} = 1 if $name =~ $rule->{path} && $text =~ $rule->{text};
    }
    return 0;
}

sub hits_in {
    my ($name, $line, $kind, $text) = @_;
    my ($any, $some) = @{rules_for($kind)};
    $text =~ s/[`"][a-z0-9_.]+[`"]/' ' x length $&/ge if $kind ne 'string'; # names of members and options
    (my $flat = lc $text) =~ s/\s+/ /g;
    return () unless $flat =~ $any;
    my $is_member = $kind eq 'string' && $text =~ /^[a-z0-9_.\/]+$/; # a member, column, value or file
    my @out;
    for my $rule (@$some) {
        next if $is_member && $rule->{text} !~ /^\^/;
        while ($text =~ /$rule->{re}/g) {
            my ($from, $to) = ($-[0], $+[0]);
            my $at = line_of($text, $from);
            my $rows = join "\n", (split /\n/, $text, -1)[$at - 1 .. line_of($text, $to) - 1];
            next if is_allowed($name, $rows);
            push @out, [$line + $at - 1, substr($text, $from, $to - $from) =~ s/\s+/ /gr, $rule->{instead}];
        }
    }
    return @out;
}

# ---- self-test -----------------------------------------------------------------------------------------------------
sub finds_its_example {
    my ($rule) = @_;
    my $text = $rule->{example};
    my @texts =
        $rule->{kind} eq 'doc' ? texts_of_document($text, 'doc')
      : $rule->{kind} eq 'name' ? texts_of_code("\nstatic int $text(void)\n{\n", 0)
      : $rule->{kind} eq 'string' ? texts_of_code("f(\"$text\");", 0)
      :                             texts_of_code("/* $text */", 0);
    return scalar grep { $_->[2] eq $rule->{instead} } map { hits_in('fixture.c', @$_[0 .. 2]) } @texts;
}

my %fixtures = ( # a text of each form of file, and the hits in it
    'a.c' => [3, qq(/* is\n * told */ f("is " "told"); // told\n)],
    'a.js' => [3, "f('is told', /'/, `is told`); // told\n"],
    'a.css' => [1, "/* told */\n"],
    'a.sh' => [4, qq(# told\necho "is told" 'is told'\ncat <<END\nis told\nEND\n)],
    'a.py' => [2, qq(# told\nf("""it is\ntold\n""")\n)],
    'a.md' => [2, "is\ntold\n\n| told | `values` |\n"],
    'a.xml' => [1, "<a told=''><!-- told --></a>\n"],
    'a.json' => [1, '{"told": 1, "description": "told"}']
);

sub self_test {
    my $bad = 0;
    @allow = ();
    for my $rule (grep { !finds_its_example($_) } @rules) {
        print "words.tsv:$rule->{line}: '$rule->{text}' does not find its example '$rule->{example}'\n";
        $bad++;
    }
    for my $form (sort keys %fixtures) {
        my $name = "$ENV{TMPDIR}/$form";
        open my $out, '>', $name or die "words: cannot write $name: $!\n";
        print $out $fixtures{$form}[1];
        close $out;
        my $found = map { hits_in($form, @$_[0 .. 2]) } texts_of($name);
        next if $found == $fixtures{$form}[0];
        print "words.pl: $found hits instead of $fixtures{$form}[0] in the fixture $form\n";
        $bad++;
    }
    printf "words: self-test of %d patterns and %d forms of files: %d failed\n", scalar @rules, scalar keys %fixtures, $bad;
    return $bad;
}

# ---- pairs of strings, before and after ------------------------------------------------------------------------------
sub strings_of {
    my ($name, $src) = @_;
    return map { $_->[2] =~ s/\s+/ /gr }
        grep { $_->[1] eq 'string' && $_->[2] =~ /[a-z]+\s+[a-z%]+/i } texts_of_code($src, $name =~ /\.js$/);
}

sub changed_strings {
    my ($name, $base) = @_;
    my @sides = ([strings_of($name, scalar `git show '$base:$name' 2>/dev/null`)], [strings_of($name, read_file($name))]);
    for my $side (0, 1) {
        open my $out, '>', "$ENV{TMPDIR}/side$side" or die "words: cannot write below $ENV{TMPDIR}: $!\n";
        print $out map { "$_\n" } @{$sides[$side]};
    }
    my (@out, @gone);
    for (`diff '$ENV{TMPDIR}/side0' '$ENV{TMPDIR}/side1'`) {
        @gone = () if /^\d/;
        push @gone, $1 if /^< (.*)/;
        push @out, [$name, shift @gone, $1] if /^> (.*)/ && @gone;
    }
    return @out;
}

sub print_sample {
    my ($n, $base, @files) = @_;
    my @pairs = map { changed_strings($_, $base) } @files;
    srand 17;
    for my $i (reverse 1 .. $#pairs) {
        my $j = int rand($i + 1);
        @pairs[$i, $j] = @pairs[$j, $i];
    }
    $n = @pairs if $n > @pairs;
    printf "%d pairs of strings changed since %s; %d of them:\n", scalar @pairs, $base, $n;
    print "$_->[0]\n  - $_->[1]\n  + $_->[2]\n" for @pairs[0 .. $n - 1];
}

sub print_texts {
    for my $name (@_) {
        for my $t (texts_of($name)) {
            my ($line, $kind, $text) = @$t;
            next if $kind eq 'name' || ($kind eq 'string' && $text !~ /[a-z]\s+[a-z%]/i);
            print "$name:$line: $kind: ", $text =~ s/\s+/ /gr, "\n";
        }
    }
}

sub print_hits {
    my ($table, @files) = @_;
    my $hits = 0;
    for my $name (@files) {
        for my $hit (map { hits_in($name, @$_[0 .. 2]) } texts_of($name)) {
            print "$name:$hit->[0]: $hit->[1] -> $hit->[2]\n";
            $hits++;
        }
    }
    for my $rule (grep { @files > 100 && !$_->{used} } @allow) { # of the whole project
        print "$table:$rule->{line}: no text needs this exception any more: delete it\n";
        $hits++;
    }
    printf "# words: %d files, %d patterns, %d hits\n", scalar @files, scalar @rules, $hits;
    return $hits;
}

my ($table, @files) = @ARGV;
die "usage: words.pl TABLE [--text|--self-test|--sample N BASE] [FILE...]\n" unless defined $table;
my $mode = @files && $files[0] =~ /^--/ ? shift @files : '';
read_table($table);
exit(self_test() ? 1 : 0) if $mode eq '--self-test';
exit(print_hits($table, @files) ? 1 : 0) if $mode eq '';
$mode eq '--sample' ? print_sample(@files) : print_texts(@files);
