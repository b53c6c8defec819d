(* Exceptions that cut the stack, collections that look at every frame, callbacks from C, finalizers, deep recursion. *)
exception Found of int
type t = Leaf | Node of t * int * t
let[@inline never] rec insert x = function
  | Leaf -> Node (Leaf, x, Leaf)
  | Node (l, v, r) as n -> if x < v then Node (insert x l, v, r) else if x > v then Node (l, v, insert x r) else n
let[@inline never] rec find p = function Leaf -> () | Node (l, v, r) -> find p l; if p v then raise (Found v); find p r
let[@inline never] many a b c d e f g h i j k l m = a + b * c - d + e * f - g + h * i - j + k * l - m
let[@inline never] poly (x : float) y = x *. y +. 1.0
let[@inline never] guarded k t = try find (fun v -> v > k) t; -1 with Found v -> v
let[@inline never] rec deep n = if n = 0 then 0 else 1 + deep (n - 1)
let () =
  let s = ref 0 and f = ref 0.0 in
  for round = 1 to 800 do
    let t = ref Leaf in
    for i = 1 to 1500 do t := insert ((i * 7919 + round) mod 10007) !t done;
    for k = 1 to 200 do s := (!s * 31 + guarded (k * 50) !t) land 0xffffffff done;
    s := !s + many 1 2 3 4 5 6 7 8 round 10 11 12 13;
    f := poly !f 0.5;
    if round mod 50 = 0 then Gc.compact ();
    s := !s + deep 5000;
    Gc.finalise (fun r -> s := !s + !r - !r) (ref round)
  done;
  let l = List.sort compare (List.init 50000 (fun i -> string_of_int ((i * 7919) mod 50021))) in
  s := !s + Hashtbl.hash (String.concat "," l);
  (try ignore (List.find (fun x -> x = "nope") l) with Not_found -> incr s);
  Printf.printf "sum %d %.4f\n" !s !f;
  exit 6
