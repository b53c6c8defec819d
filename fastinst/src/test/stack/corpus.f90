! As corpus.c: takes_... find arguments on the stack, or lead to a subroutine that does; plain_... do not.
subroutine takes_fortran_seven(a, b, c, d, e, f, g)
  integer :: a, b, c, d, e, f, g
  a = b + c + d + e + f + g
end subroutine
subroutine takes_fortran_sibling(a, b, c, d, e, f, g)
  integer :: a, b, c, d, e, f, g
  call takes_fortran_seven(b, a, c, d, e, f, g)
end subroutine
subroutine takes_fortran_length(a, b, c, d)
  character(*) :: a, b, c, d
  a = b // c // d
end subroutine
function takes_fortran_values(a, b, c, d, e, f, g) bind(c)
  use iso_c_binding
  integer(c_long), value :: a, b, c, d, e, f, g
  integer(c_long) :: takes_fortran_values
  takes_fortran_values = a + b + c + d + e + f * g
end function
subroutine plain_fortran(a, n)
  integer :: n, i
  real(8) :: a(n)
  do i = 1, n
    a(i) = a(i) * 2 + i
  end do
end subroutine
function plain_fortran_sum(a, n)
  integer :: n
  real(8) :: a(n), plain_fortran_sum
  plain_fortran_sum = sum(a)
end function
