\ Words that call each other, catch and throw, memory.
: fib ( n -- f ) dup 2 < if exit then dup 1- recurse swap 2 - recurse + ;
: fall ( depth kind -- ) over 0= if nip dup 3 mod 0= if 100 + throw then drop exit then swap 1- swap recurse ;
: caught ( n -- x ) dup 10 mod swap ['] fall catch dup if nip nip then ;
variable sum
: round ( n -- ) 300 0 do i caught sum +! loop 26 fib sum +! 1000 allocate throw dup 1000 7 fill dup 999 + c@ sum +! free throw drop ;
: main 160 0 do i round loop ." sum " sum @ . cr ;
main 6 (bye)
