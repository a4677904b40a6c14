#!/usr/bin/perl
# The digests of tests/check_outputs.sh; runs in the folder with the files that the commands name.
# usage: run.pl check|update|against FOLDER PROGRAM [PROGRAM]      FOLDER: of commands.txt and digests.tsv; JOBS, STOP: environment
# check    prints TAP: a test for each line of commands.txt; fails where a digest is missing or another
# update   writes digests.tsv
# against  prints the differences between the outputs of two programs
use strict;
use warnings;
use Digest::SHA 'sha1_hex';

my ($mode, $folder, @program) = @ARGV;
my $jobs = $ENV{JOBS} || 2;

# the inputs of fuzz targets: small files, each with something that is rare
sub seeds { return join '|', sort map { glob "tests/fuzz/seeds/$_/*" } @_ }

# [line, command...] of each line of commands.txt
sub commands {
    my %list = (
        FILES => join('|', sort grep { !/\.(tsv|md|onnx|out)$|README$/ && -s $_ < 300_000 } split /\n/, `find -L tests/data -type f`),
        SEEDS => seeds(qw(chrome generic_csv kineto megengine mindspore ncu nsys_csv nsys_sqlite onnxruntime onnxruntime_memory op_logs
            op_tables openvino paddle_report paddle_trace printed rocpd rocprof_json tensorrt xplane)),
        LOADED => seeds(qw(decoder gguf model safetensors)),
        KINETO => join('|', sort map { s|.*/||r } glob 'tests/data/kineto/*'));
    my (@group, %seen);
    open my $in, '<', "$folder/commands.txt" or die "$folder/commands.txt: $!\n";
    while (<$in>) {
        chomp;
        next if /^\s*(#|$)/;
        if (/^([A-Z]+) = (.*)/) {
            $list{$1} = $2;
            next;
        }
        my @line = ($_);
        while (grep { /\{/ } @line) {
            @line = map {
                my $line = $_;
                my ($before, $inner, $after) = $line =~ /^([^{]*)\{([^{}]*)\}(.*)$/ or die "$folder/commands.txt:$.: $line\n";
                map { "$before$_$after" } map { exists $list{$_} ? split(/\|/, $list{$_}, -1) : $_ } split(/\|/, $inner, -1);
            } @line;
        }
        push @group, [$_, grep { !$seen{$_}++ } map { s/ +/ /g; s/ $//; $_ } @line];
    }
    return @group;
}

# The version in an output is replaced by 0.1.0, that of the first digests: a release changes no digest.
my %version = map { $_ => `$_ --version` =~ /^onnxcost (\S+)/ } @program;
sub output {
    my ($program, $command, $keep) = @_;
    my $out = `timeout 100 $program $command 2>$keep.err </dev/null`;
    my $rc = $? >> 8;
    open my $err, '<', "$keep.err" or die "$keep.err: $!\n";
    local $/;
    return ($out . "exit code $rc\n" . (<$err> // '')) =~ s/\Q$version{$program}\E/0.1.0/gr;
}

# calls work(group number) in $jobs processes, prints what it returns in the order of the groups
sub each_group {
    my ($n, $work) = @_;
    my @pid;
    for my $job (0 .. $jobs - 1) {
        my $pid = fork;
        die "fork: $!\n" unless defined $pid;
        push @pid, $pid;
        next if $pid;
        open my $to, '>', "job.$job" or die "job.$job: $!\n";
        for (my $i = $job; $i < $n; $i += $jobs) {
            my $text = $work->($i, "out.$job");
            print $to "$i\t$_\n" for split /\n/, $text;
            last if $ENV{STOP} && $text =~ /^not ok/m;
        }
        exit 0;
    }
    for (@pid) {
        waitpid $_, 0;
        die "a process of run.pl failed\n" if $?;
    }
    my @lines;
    for my $job (0 .. $jobs - 1) {
        open my $from, '<', "job.$job" or die "job.$job: $!\n";
        while (<$from>) {
            my ($i, $text) = /^(\d+)\t(.*)/s;
            push @{$lines[$i]}, $text;
        }
    }
    return map { $_ ? @$_ : () } @lines;
}

my @group = commands();
if ($mode eq 'update') {
    open my $to, '>', "$folder/digests.tsv" or die "$folder/digests.tsv: $!\n";
    print $to each_group(scalar @group, sub {
        my ($i, $keep) = @_;
        my (undef, @command) = @{$group[$i]};
        return join '', map { substr(sha1_hex(output($program[0], $_, $keep)), 0, 12) . "\t$_\n" } @command;
    });
} elsif ($mode eq 'against') {
    print each_group(scalar @group, sub {
        my ($i, $keep) = @_;
        my (undef, @command) = @{$group[$i]};
        my $text = '';
        for my $command (@command) {
            my @out = map { output($_, $command, $keep) } @program;
            next if $out[0] eq $out[1];
            for my $side (0, 1) {
                open my $to, '>', "$keep.$side" or die "$keep.$side: $!\n";
                print $to $out[$side];
            }
            $text .= "# onnxcost $command\n" . `diff -U 1 $keep.1 $keep.0 | tail -n +3 | head -n 40 | cut -c 1-300`;
        }
        return $text;
    });
} else {
    my %digest;
    open my $in, '<', "$folder/digests.tsv" or die "$folder/digests.tsv: $!\n";
    while (<$in>) {
        chomp;
        my ($sum, $command) = split /\t/;
        $digest{$command} = $sum;
    }
    my @line = each_group(scalar @group, sub {
        my ($i, $keep) = @_;
        my ($title, @command) = @{$group[$i]};
        my @bad;
        for my $command (@command) {
            my $sum = substr sha1_hex(output($program[0], $command, $keep)), 0, 12;
            push @bad, $command if $sum ne ($digest{$command} // '');
            last if @bad && $ENV{STOP};
        }
        return sprintf("%sok %d - %s\n", @bad ? 'not ' : '', $i + 1, $title =~ s/#/\\#/gr) .
            join('', map { "# another output: onnxcost $_\n" } @bad[0 .. ($#bad > 7 ? 7 : $#bad)]) .
            (@bad > 8 ? '# and ' . (@bad - 8) . " others\n" : '');
    });
    my %known = map { $_ => 1 } map { @$_[1 .. $#$_] } @group;
    my @old = sort grep { !$known{$_} } keys %digest;
    print "1..", @group + 1, "\n", map({ s/\n?$/\n/r } @line), @old ? 'not ' : '', 'ok ', @group + 1, " - every digest has a command\n",
        map { "# no command: onnxcost $_\n" } @old;
    exit(@old || grep({ /^not ok/ } @line) ? 1 : 0);
}
