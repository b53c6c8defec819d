//! Functions, methods, closures and generic functions of Rust, and panics that unwind through them. Each counts its
//! own calls by its address. At the end a line for each function, "calls offset-in-image", goes to the file that COUNTS
//! names.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Mutex;

static CALLS: Mutex<BTreeMap<usize, u64>> = Mutex::new(BTreeMap::new());

unsafe extern "C" {
    static __executable_start: u8;
}

macro_rules! counted {
    ($function:expr) => {
        *CALLS.lock().unwrap().entry($function as *const () as usize).or_default() += 1
    };
}

trait Shape {
    fn area(&self) -> u64;
}

struct Square(u64);

impl Square {
    #[inline(never)]
    fn grow(&mut self) {
        counted!(Self::grow);
        self.0 += 1;
    }
}

impl Shape for Square {
    #[inline(never)]
    fn area(&self) -> u64 {
        counted!(<Self as Shape>::area);
        self.0 * self.0
    }
}

#[inline(never)]
fn describe<T: std::fmt::Debug>(value: T) -> usize {
    counted!(describe::<T>);
    format!("{value:?}").len()
}

#[inline(never)]
fn descend(depth: u64) -> u64 {
    counted!(descend);
    if depth == 0 {
        panic!("at the bottom");
    }
    std::hint::black_box(descend(depth - 1)) + 1
}

#[inline(never)]
extern "C" fn recover(depth: u64) -> bool {
    counted!(recover);
    std::panic::catch_unwind(|| descend(depth)).is_err()
}

#[inline(never)]
fn main() {
    counted!(main);
    // What it says by default has the thread's number in it.
    std::panic::set_hook(Box::new(|_| {}));
    let mut square = Square(3);
    let mut sum = 0;
    for i in 0..100 {
        square.grow();
        let shape: &dyn Shape = std::hint::black_box(&square);
        sum += shape.area() + describe(i) as u64 + describe("text") as u64;
    }
    println!("{sum} {} {}", recover(5), recover(50));
    if let Ok(path) = std::env::var("COUNTS") {
        let base = &raw const __executable_start as usize;
        let mut text = String::new();
        for (function, calls) in CALLS.lock().unwrap().iter() {
            writeln!(text, "{calls} +{:x}", function - base).unwrap();
        }
        std::fs::write(path, text).unwrap();
    }
}
