# Fibers, threads, exceptions, throw, callbacks from C, objects that only registers and stacks refer to.
def fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)
Node = Struct.new(:left, :right, :value)
def tree(n) = n.zero? ? nil : Node.new(tree(n - 1), tree(n - 1), "n#{n}")
def count(t) = t ? 1 + count(t.left) + count(t.right) + t.value.size : 0
sum = 0
150.times do |round|
  100.times do |i|
    fiber = Fiber.new { |x| y = Fiber.yield(x + 1); raise "raised #{y}" if i % 7 == 0; y + Fiber.yield(fib(6)) }
    sum += fiber.resume(i)
    begin
      sum += fiber.resume(i * 3)
      sum += fiber.resume(2) unless i % 5 == 0
    rescue RuntimeError => e
      sum += e.message.size
    end
    sum += catch(:out) { 10.times { |k| [1, 2, 3].each { throw :out, k if k == i % 10 } }; 99 }
  end
  sum += (0...4).map { |t| Thread.new { (0...300).map { |k| "#{t}-#{k}" }.sort.join.sum } }.sum(&:value)
  words = (0...1500).map { |i| (i * 7919 % 50_021).to_s }
  sum += words.sort_by { |w| w.reverse }.first.to_i + words.join(" ").gsub(/\d+/) { |m| (m.to_i * 2).to_s }.sum
  sum += count(tree(11))
  GC.start if round % 10 == 0
  GC.compact if round % 20 == 0 && GC.respond_to?(:compact)
  sum = (sum + fib(18)) % 1_000_000_007
end
puts "sum #{sum}"
exit 6
