# Closures, die through C, sort with callbacks, regular expressions with code, tied variables, signals, local.
use strict; use warnings;
sub fib { my $n = shift; $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
sub tree { my $n = shift; $n ? [tree($n - 1), "n$n", tree($n - 1)] : undef }
sub count { my $t = shift; $t ? 1 + count($t->[0]) + length($t->[1]) + count($t->[2]) : 0 }
package Own { sub TIESCALAR { bless [0] } sub FETCH { $_[0][0]++ } sub DESTROY { $main::closed++ } }
our $closed = 0; my $sum = 0; my $signals = 0;
$SIG{USR1} = sub { $signals++; die "signal\n" if $signals % 5 == 0 };
for my $round (1 .. 100) {
    for my $i (1 .. 300) {
        eval { local $SIG{__DIE__} = sub { $sum++ }; my @x = sort { die "in sort $i\n" if $i % 3 == 0; $a <=> $b } 3, 1, 2; $sum += $x[0] };
        $sum += length $@;
        eval { kill USR1 => $$ if $i % 10 == 0; $sum += 1 };
    }
    my @words = sort { reverse($a) cmp reverse($b) } map { $_ * 7919 % 50021 } 1 .. 2000;
    (my $text = join ' ', @words) =~ s/(\d+)/length($1) . reverse($1)/ge;
    $sum += length($text) + unpack('%32C*', $text) + count(tree(11)) + fib(15);
    { tie my $t, 'Own'; $sum += $t for 1 .. 100; }
    $sum %= 1000000007;
}
print "sum $sum $closed $signals\n";
exit 6;
