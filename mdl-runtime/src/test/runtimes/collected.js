// Objects that are collected and moved while C++ is on the stack: JSON, sort, regular expressions, promises, timers.
const crypto = require('crypto'), zlib = require('zlib');
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
function tree(n) { return n ? { left: tree(n - 1), right: tree(n - 1), value: 'n' + n } : null; }
function count(t) { return t ? 1 + t.value.length + count(t.left) + count(t.right) : 0; }
function* numbers(n) { for (let i = 0; i < n; i++) yield i * 2; }
let sum = 0;
async function round(r) {
  const list = JSON.parse(JSON.stringify(Array.from({ length: 2000 }, (_, i) => ({ i, s: 'x' + i * 7919 % 50021, r }))), (k, v) => v);
  sum += list.filter(x => /7$/.test(x.s)).length;
  list.sort((a, b) => (a.s < b.s ? -1 : 1));
  sum += list[10].i + list.map(x => x.s).join(',').replace(/\d+/g, m => m.length).length;
  for (const n of numbers(500)) sum += n;
  for (let i = 0; i < 300; i++) { try { if (i % 3 == 0) throw new Error('e' + i); null.x; } catch (e) { sum += e.message.length; } }
  sum += count(tree(11)) + fib(18);
  sum += parseInt(crypto.createHash('sha256').update(JSON.stringify(list)).digest('hex').slice(0, 4), 16);
  sum += zlib.gunzipSync(zlib.gzipSync(JSON.stringify(list))).length;
  await new Promise(done => setImmediate(done));
  sum %= 1000000007;
}
(async () => { for (let r = 0; r < 60; r++) await round(r); console.log('sum', sum); process.exitCode = 6; })();
