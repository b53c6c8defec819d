# Words counted, sorted and substituted, for some seconds. The output is the same on every run.
my $rounds = shift;
my ($seed, $sum) = (1, 0);

sub word {
    $seed = ($seed * 16807) % 2147483647;
    return sprintf '%x', $seed % 5000;
}

for my $round (1 .. $rounds) {
    my %count;
    $count{word()} += $_ for 1 .. 30000;
    my $text = join ' ', map { "$_=$count{$_}" } sort { $count{$a} <=> $count{$b} || $a cmp $b } keys %count;
    $sum += ($text =~ s/(\w)=(\d+)/$2$1/g);
    $sum += () = $text =~ /\b[0-9a-f]*?a[0-9a-f]*\b/g;
}
print "$sum\n";
