// Exceptions with scope guards, fibers, collections, threads.
import core.memory, core.thread, std.algorithm, std.conv, std.range, std.stdio;
class Node { Node left, right; int value; this(int n) { value = n; if (n > 0) { left = new Node(n - 1); right = new Node(n - 1); } } long count() { return 1 + value + (left ? left.count() : 0) + (right ? right.count() : 0); } }
long closed;
void fall(int depth, int kind) { scope(exit) closed++; scope(failure) closed += 2; if (depth > 0) { fall(depth - 1, kind); closed++; } else if (kind % 3 == 0) throw new Exception("thrown " ~ kind.to!string); }
int main() {
    long sum;
    foreach (round; 0 .. 30) {
        foreach (i; 0 .. 300) { try fall(i % 20, i); catch (Exception e) sum += e.msg.length; }
        foreach (i; 0 .. 100) {
            long got;
            auto fiber = new Fiber({ foreach (k; 0 .. 5) { got += k * i; Fiber.yield(); } if (i % 7 == 0) throw new Exception("x"); });
            try { while (fiber.state != Fiber.State.TERM) fiber.call(); } catch (Exception e) sum++;
            sum += got;
        }
        sum += new Node(12).count();
        auto words = iota(2000).map!(i => (i * 7919 % 50_021).to!string).array.sort;
        sum += words.front.length + words.joiner(",").walkLength;
        if (round % 10 == 0) GC.collect();
        auto t = new Thread({ new Node(8); }); t.start(); t.join();
    }
    writeln("sum ", sum, " ", closed);
    return 6;
}
