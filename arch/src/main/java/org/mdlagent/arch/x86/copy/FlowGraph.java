package org.mdlagent.arch.x86.copy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import org.mdlagent.arch.code.FunctionCopy;
import org.mdlagent.arch.code.FunctionCopy.Arc;
import org.mdlagent.arch.x86.bytes.Instruction;

/// The arcs between the blocks of a function, and which blocks and arcs have a counter.
///
/// Each block is an arc, too: from its entrance to its exit. Control that enters a node leaves it, so the
/// arcs of a spanning tree need no counter: their counts follow from the others (Knuth, The Art of Computer
/// Programming, 2.3.4.1). The tree has the arcs that are dearest to count (Ball and Larus, Optimally
/// Profiling and Tracing Programs, 1994).
///
/// A call or system call may return never, or more than once. So control leaves the function there, and
/// enters it behind: `longjmp`, exceptions, forks and the end of the program break no equation.
///
/// Arcs of jumps have no place for a counter, and always are in the tree. They close no cycle: a block has
/// one at most to leave it, and one at most from outside to enter it.
final class FlowGraph {
    /// Probability of a jump back, which ends a loop.
    private static final double AGAIN = 0.9;

    private static final double HANDLED = 0.01;
    private static final int SWEEPS = 40;

    private static final int OUTSIDE = 0;

    /// What counting costs at a place, each time.
    interface Price {
        double inBlock(int block);

        /// Of the arc from the code before a block.
        double before(int block);

        /// Behind the last instruction of a piece of code.
        double behind(int block);
    }

    /// @param arc   number of an arc, [FunctionCopy#NONE] for the block itself
    private record Countable(int block, int arc, double cost) {}

    final List<Arc> arcs = new ArrayList<>();

    /// Of each block: the number of its counter.
    final int[] ofBlock;

    /// Of each block: the counter of the arc from the code before it, or of calls of the function.
    final int[] before;

    /// Of each block: the counter of the arc out of the piece that it ends.
    final int[] behind;

    final int counters;

    private final Steps steps;
    private final Blocks blocks;
    private final boolean jumpsApart;

    /// Of each block: the arc from the code before it, and that out of the piece that it ends.
    private final int[] arcBefore;

    private final int[] arcBehind;

    /// Where the tree of each node leads.
    private final int[] parent;

    /// @param pads       where exceptions continue
    /// @param jumpsApart whether computed jumps are told apart: each has a counter for each target
    /// @throws IllegalArgumentException if counts of the function do not follow from counters
    FlowGraph(Steps steps, Blocks blocks, BitSet pads, boolean jumpsApart, Price price) {
        this.steps = steps;
        this.blocks = blocks;
        this.jumpsApart = jumpsApart;
        ofBlock = filled(blocks.count);
        before = filled(blocks.count);
        behind = filled(blocks.count);
        arcBefore = filled(blocks.count);
        arcBehind = filled(blocks.count);
        parent = new int[1 + 2 * blocks.count];
        Arrays.setAll(parent, node -> node);
        boolean computes = leave();
        enter(pads, computes);
        counters = number(counted(price), computes);
    }

    private static int[] filled(int count) {
        int[] numbers = new int[count];
        Arrays.fill(numbers, FunctionCopy.NONE);
        return numbers;
    }

    private int add(int from, int to, Arc.Kind kind, long target) {
        arcs.add(new Arc(from, to, kind, FunctionCopy.NONE, target));
        return arcs.size() - 1;
    }

    /// Arcs by which blocks end.
    ///
    /// @return whether there are computed jumps
    private boolean leave() {
        boolean computes = false;
        for (int block = 0; block < blocks.count; block++) {
            int last = blocks.last(block);
            boolean continues = steps.next(last) >= 0;
            if (steps.isLeft(last)) {
                boolean isDirect = steps.get(last).kind() == Instruction.Kind.CALL;
                add(
                        block,
                        FunctionCopy.NONE,
                        Arc.Kind.CALL,
                        isDirect ? steps.get(last).target() : 0);
                if (continues) {
                    arcBefore[block + 1] = add(FunctionCopy.NONE, block + 1, Arc.Kind.RETURN, 0);
                }
                continue;
            }
            if (steps.isDirectJump(last)) {
                int target = steps.target(last);
                int to = target >= 0 ? blocks.blockOf[target] : FunctionCopy.NONE;
                add(block, to, Arc.Kind.JUMP, target >= 0 ? 0 : steps.get(last).target());
            } else if (steps.isComputedJump(last)) {
                computes = true;
                for (int to = blocks.computed.nextSetBit(0);
                        jumpsApart && to >= 0;
                        to = blocks.computed.nextSetBit(to + 1)) {
                    add(block, to, Arc.Kind.COMPUTED, 0);
                }
                add(block, FunctionCopy.NONE, Arc.Kind.COMPUTED, 0);
            } else if (!steps.get(last).fallsThrough()) {
                add(block, FunctionCopy.NONE, Arc.Kind.LEAVE, 0);
            }
            if (steps.get(last).fallsThrough() && continues) {
                arcBefore[block + 1] = add(block, block + 1, Arc.Kind.NEXT, 0);
            } else if (steps.get(last).fallsThrough()) {
                arcBehind[block] = add(block, FunctionCopy.NONE, Arc.Kind.NEXT, 0);
            }
        }
        return computes;
    }

    /// Arcs from outside.
    private void enter(BitSet pads, boolean computes) {
        arcBefore[0] = add(FunctionCopy.NONE, 0, Arc.Kind.ENTRY, 0);
        for (int block = 0; block < blocks.count; block++) {
            if (blocks.computed.get(block) && !(computes && jumpsApart)) {
                add(FunctionCopy.NONE, block, Arc.Kind.COMPUTED, 0);
            } else if (pads.get(blocks.first[block])) {
                add(FunctionCopy.NONE, block, Arc.Kind.HANDLER, 0);
            }
        }
    }

    private boolean isJumpApart(Arc arc) {
        return arc.kind() == Arc.Kind.COMPUTED && arc.from() >= 0 && arc.to() >= 0;
    }

    /// The blocks and arcs that are not in the tree.
    private List<Countable> counted(Price price) {
        List<Countable> countable = new ArrayList<>();
        double[] runs = new double[blocks.count];
        double[] shares = estimate(runs);
        for (int block = 0; block < blocks.count; block++) {
            if (arcBefore[block] >= 0) {
                double cost = price.before(block) * shares[arcBefore[block]];
                countable.add(new Countable(block, arcBefore[block], cost));
            }
            countable.add(new Countable(block, FunctionCopy.NONE, price.inBlock(block) * runs[block]));
            if (arcBehind[block] >= 0) {
                double cost = price.behind(block) * shares[arcBehind[block]];
                countable.add(new Countable(block, arcBehind[block], cost));
            }
        }
        for (int i = 0; i < arcs.size(); i++) {
            Arc arc = arcs.get(i);
            boolean hasPlace = isJumpApart(arc)
                    || arc.to() >= 0 && arcBefore[arc.to()] == i
                    || arc.from() >= 0 && arcBehind[arc.from()] == i;
            if (!hasPlace && !join(exit(arc.from()), entrance(arc.to()))) {
                throw new IllegalArgumentException("its counts do not follow from counters");
            }
        }
        List<Countable> byCost = new ArrayList<>(countable);
        byCost.sort(Comparator.comparingDouble(Countable::cost).reversed());
        byCost.removeIf(each -> each.arc >= 0
                ? join(
                        exit(arcs.get(each.arc).from()),
                        entrance(arcs.get(each.arc).to()))
                : join(entrance(each.block), exit(each.block)));
        return byCost;
    }

    private static int entrance(int block) {
        return block < 0 ? OUTSIDE : 1 + 2 * block;
    }

    private static int exit(int block) {
        return block < 0 ? OUTSIDE : 2 + 2 * block;
    }

    /// Whether the nodes were in different trees.
    private boolean join(int one, int other) {
        int first = root(one);
        int second = root(other);
        parent[first] = second;
        return first != second;
    }

    private int root(int node) {
        int at = node;
        while (parent[at] != at) {
            parent[at] = parent[parent[at]];
            at = parent[at];
        }
        return at;
    }

    private int number(List<Countable> counted, boolean computes) {
        counted.sort(Comparator.comparingInt(Countable::block)
                .thenComparingInt(each -> each.arc < 0 ? 1 : each.arc == arcBefore[each.block] ? 0 : 2));
        int next = 0;
        for (Countable each : counted) {
            if (each.arc < 0) {
                ofBlock[each.block] = next;
            } else {
                (each.arc == arcBefore[each.block] ? before : behind)[each.block] = next;
                give(each.arc, next);
            }
            next++;
        }
        for (int i = 0; i < arcs.size(); i++) {
            if (isJumpApart(arcs.get(i))) {
                give(i, next++);
            }
        }
        if (computes) {
            give(add(0, 0, Arc.Kind.UNFORESEEN, 0), next++);
        }
        return next;
    }

    private void give(int arc, int counter) {
        Arc old = arcs.get(arc);
        arcs.set(arc, new Arc(old.from(), old.to(), old.kind(), counter, old.target()));
    }

    /// Estimates how often blocks run in a call.
    ///
    /// @return the same of each arc
    private double[] estimate(double[] runs) {
        double[] parts = new double[arcs.size()];
        int[] sources = new int[arcs.size()];
        List<List<Integer>> into = new ArrayList<>();
        for (int block = 0; block < blocks.count; block++) {
            into.add(new ArrayList<>());
        }
        BitSet jumps = new BitSet();
        for (int i = 0; i < arcs.size(); i++) {
            Arc arc = arcs.get(i);
            sources[i] = arc.kind() == Arc.Kind.RETURN ? arc.to() - 1 : arc.from();
            parts[i] = part(arc);
            if (arc.to() >= 0) {
                into.get(arc.to()).add(i);
            }
            if (arc.kind() == Arc.Kind.COMPUTED && arc.from() >= 0) {
                jumps.set(arc.from());
            }
        }
        for (int sweep = 0; sweep < SWEEPS; sweep++) {
            double computed = jumps.stream().mapToDouble(block -> runs[block]).sum();
            for (int block = 0; block < blocks.count; block++) {
                double sum = 0;
                for (int arc : into.get(block)) {
                    sum += parts[arc] * (sources[arc] >= 0 ? runs[sources[arc]] : isComputed(arc) ? computed : 1);
                }
                runs[block] = sum;
            }
        }
        double[] taken = new double[arcs.size()];
        for (int i = 0; i < taken.length; i++) {
            taken[i] = parts[i] * (sources[i] >= 0 ? runs[sources[i]] : 1);
        }
        return taken;
    }

    private boolean isComputed(int arc) {
        return arcs.get(arc).kind() == Arc.Kind.COMPUTED;
    }

    /// How probable an arc is where it begins.
    private double part(Arc arc) {
        return switch (arc.kind()) {
            case JUMP, NEXT -> {
                int last = blocks.last(arc.from());
                boolean isChoice = steps.isDirectJump(last) && steps.get(last).fallsThrough();
                if (!isChoice) {
                    yield 1;
                }
                int target = steps.target(last);
                double jumps = target >= 0 && target <= last ? AGAIN : 0.5;
                yield arc.kind() == Arc.Kind.JUMP ? jumps : 1 - jumps;
            }
            case COMPUTED -> 1.0 / Math.max(1, blocks.computed.cardinality());
            case HANDLER -> HANDLED;
            case CALL, RETURN, ENTRY, LEAVE, UNFORESEEN -> 1;
        };
    }
}
