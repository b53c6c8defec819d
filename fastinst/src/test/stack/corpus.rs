// As corpus.c: takes_... find arguments on the stack, or lead to a function that does; plain_... do not.
#![crate_type = "cdylib"]
use std::hint::black_box;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Big {
    words: [i64; 5],
}

#[no_mangle]
#[inline(never)]
pub extern "C" fn takes_rust_seven(a: i64, b: i64, c: i64, d: i64, e: i64, f: i64, g: i64) -> i64 {
    a + b * c - d + e * f + black_box(g)
}
#[no_mangle]
#[inline(never)]
pub extern "C" fn takes_rust_sibling(a: i64, b: i64, c: i64, d: i64, e: i64, f: i64, g: i64) -> i64 {
    takes_rust_seven(b, a, c, d, e, f, g)
}
#[no_mangle]
#[inline(never)]
pub fn takes_rust_own_convention(a: i64, b: i64, c: i64, d: i64, e: i64, f: i64, g: i64) -> i64 {
    a ^ b ^ c ^ d ^ e ^ f ^ black_box(g)
}
#[no_mangle]
#[inline(never)]
pub extern "C" fn takes_rust_big(b: Big) -> i64 {
    black_box(b.words[4])
}
#[no_mangle]
#[inline(never)]
pub extern "win64" fn takes_rust_win64(a: i64, b: i64, c: i64, d: i64, e: i64) -> i64 {
    a + b + c * d * black_box(e)
}
#[no_mangle]
#[inline(never)]
pub extern "C" fn takes_rust_pointer(
    f: extern "C" fn(i64, i64, i64, i64, i64, i64, i64) -> i64, b: i64, c: i64, d: i64, e: i64, g: i64, h: i64) -> i64 {
    f(b, c, d, e, g, h, h)
}
#[no_mangle]
#[inline(never)]
pub fn takes_rust_when_it_panics(a: i64, b: i64, c: i64, d: i64, e: i64, f: i64, g: i64) -> i64 {
    if a == 77 {
        panic!("{}", g);
    }
    b + c + d + e + f
}
#[no_mangle]
#[inline(never)]
pub fn plain_rust(a: &[i64], b: usize) -> i64 {
    a[b] + a.iter().sum::<i64>()
}
#[no_mangle]
#[inline(never)]
pub fn plain_rust_string(a: &str) -> String {
    format!("{}{}", a, a.len())
}
#[no_mangle]
#[inline(never)]
pub fn plain_rust_match(a: i64, b: i64) -> i64 {
    match a {
        0 => b * 3,
        1 => black_box(b) - 1,
        2 => b * b,
        3 => black_box(7),
        4 => b / 3,
        5 => black_box(b + 8),
        6 => plain_rust(&[b, a], 1),
        _ => 9,
    }
}
