// Exceptions with finally, threads, delegates from C, collections, generators.
using System; using System.Collections.Generic; using System.Linq; using System.Threading;
class Node { public Node Left, Right; public string Value; public Node(int n) { Value = "n" + n; if (n > 0) { Left = new Node(n - 1); Right = new Node(n - 1); } } public long Count() { return 1 + Value.Length + (Left == null ? 0 : Left.Count() + Right.Count()); } }
static class Program {
    static long closed;
    static void Fall(int depth, int kind) { try { if (depth > 0) { Fall(depth - 1, kind); closed++; } else if (kind % 3 == 0) throw new InvalidOperationException("thrown " + kind); else if (kind % 3 == 1) { object o = null; o.ToString(); } } finally { closed++; } }
    static IEnumerable<int> Numbers(int n) { for (int i = 0; i < n; i++) yield return i * 2; }
    static int Main() {
        long sum = 0;
        for (int round = 0; round < 50; round++) {
            for (int i = 0; i < 200; i++) { try { Fall(i % 20, i); } catch (InvalidOperationException e) { sum += e.Message.Length; } catch (NullReferenceException) { sum += 2; } }
            foreach (int i in Numbers(1000)) sum += i;
            var words = Enumerable.Range(0, 2000).Select(i => (i * 7919 % 50021).ToString()).OrderBy(w => w, StringComparer.Ordinal).ToArray();
            sum += words[10].Length + string.Join(",", words).Length + new Node(12).Count();
            long[] parts = new long[4];
            var threads = Enumerable.Range(0, 4).Select(t => new Thread(() => { parts[t] = new Node(9).Count() + t; })).ToList();
            threads.ForEach(t => t.Start()); threads.ForEach(t => t.Join());
            sum += parts.Sum();
            Array.Sort(words, (a, b) => string.CompareOrdinal(b, a));
            if (round % 5 == 0) GC.Collect();
        }
        Console.WriteLine("sum " + sum + " " + closed);
        return 6;
    }
}
