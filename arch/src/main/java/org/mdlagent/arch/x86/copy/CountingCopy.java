package org.mdlagent.arch.x86.copy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.mdlagent.arch.code.CodePiece;
import org.mdlagent.arch.code.FunctionCopy;
import org.mdlagent.arch.x86.bytes.Encoding;
import org.mdlagent.arch.x86.bytes.Instruction;

/// A copy of a function with counters in blocks and between them ([FlowGraph]): `incq %gs:counter`, where
/// the flags are not needed; else a load, an addition and a store through a register that is not needed;
/// else through RAX, which is saved below the red zone (System V ABI, 3.2.2).
///
/// | instruction | its copy |
/// | --- | --- |
/// | reads memory relative to its end | the same, re-aimed |
/// | jump within the function | to the copy, near |
/// | other jump or call | the same, near: to the original |
/// | computed jump | through a table of the copies of all instructions, if it leads into the function |
/// | `jrcxz`, `loop` and the like | itself, across a short jump, to a near jump |
/// | any other | the same |
///
/// Unlike [org.mdlagent.arch.x86.patch.Relocator]'s copies, this one's calls return to it.
final class CountingCopy implements FunctionCopy {
    private static final int RSP = 4;
    private static final int R11 = 11;

    /// Stands for the flags, and for a register that is saved, where a counter's register is meant.
    private static final int FLAGS = -1;

    private static final int SAVED = -2;
    private static final int RED_ZONE = 128;

    private static final int NOTHING = -1;

    /// The largest tables of a function whose computed jumps are told apart, in bytes.
    private static final int APART_MAX = 1 << 24;

    private static final double PRICE_OF_REGISTER = 1.5;
    private static final double PRICE_OF_SAVING = 3;

    /// Registers by which no calling convention passes anything to a function: RAX holds a number for
    /// variadic functions
    /// only, which are not in tables.
    private static final int NOT_PASSED = 1 | 1 << 10 | 1 << 11;

    /// The largest copy of an instruction, its counter included.
    private static final int STEP_MAX = 128;

    private final Steps steps;
    private final Blocks blocks;
    private final Liveness liveness;

    private final FlowGraph flow;

    /// Of each block: the instruction before which it is counted, and the register through which.
    private final int[] countedAt;

    private final int[] countedBy;

    private final List<Table> computed = new ArrayList<>();

    /// The tables of the pieces of the function that computed jumps go through.
    ///
    /// @param register that holds an offset in place of the target where the table leads, and is made good
    ///     there; [#NOTHING] if it is not needed any more
    /// @param jump     the only computed jump that goes through the table, [#NOTHING] if they are not told
    ///     apart
    private record Table(int register, int jump) {}

    /// Of each instruction: where it is, with counters before it; and where jumps to it arrive.
    private final int[] places;

    private final int[] landings;
    private final int[] ends;
    private final int size;
    private final int tableSize;
    private byte[] table = {};

    /// @param pads  where exceptions continue
    /// @param jumps whether computed jumps are told apart
    /// @throws IllegalArgumentException if there is no copy, with the reason
    CountingCopy(Steps steps, Blocks blocks, Liveness liveness, BitSet pads, boolean jumps) {
        this.steps = steps;
        this.blocks = blocks;
        this.liveness = liveness;
        countedAt = new int[blocks.count];
        countedBy = new int[blocks.count];
        places = new int[steps.count()];
        landings = new int[steps.count()];
        ends = new int[steps.pieces.size()];
        for (int block = 0; block < blocks.count; block++) {
            placeCounter(block);
        }
        List<Integer> computedJumps = IntStream.range(0, steps.count())
                .filter(steps::isComputedJump)
                .boxed()
                .toList();
        int bytes = steps.pieces.stream().mapToInt(piece -> piece.code().length).sum();
        boolean apart = jumps && (long) computedJumps.size() * bytes * Long.BYTES <= APART_MAX;
        for (int jump : computedJumps) {
            Table table = new Table(toRestore(ComputedJump.of(steps.code(jump))), apart ? jump : NOTHING);
            if (!computed.contains(table)) {
                computed.add(table);
            }
        }
        flow = new FlowGraph(steps, blocks, pads, apart, new Prices());
        tableSize = Math.multiplyExact(Math.multiplyExact(bytes, computed.size()), Long.BYTES);
        size = code(steps.pieces.getFirst().address(), 0, 0).length;
    }

    private final class Prices implements FlowGraph.Price {
        @Override
        public double inBlock(int block) {
            return price(countedBy[block]);
        }

        @Override
        public double before(int block) {
            return price(registerBefore(blocks.first[block]));
        }

        @Override
        public double behind(int block) {
            return PRICE_OF_SAVING;
        }

        private static double price(int register) {
            return switch (register) {
                case FLAGS -> 1;
                case SAVED -> PRICE_OF_SAVING;
                default -> PRICE_OF_REGISTER;
            };
        }
    }

    /// The register through which is counted right before an instruction.
    private int registerBefore(int instruction) {
        int needed = liveness.before(instruction);
        int free = ~needed & Liveness.REGISTERS & ~(1 << RSP);
        if ((needed & Liveness.CHANGED_BY_INC) == 0) {
            return FLAGS;
        }
        return free == 0 ? SAVED : Integer.numberOfTrailingZeros(free);
    }

    private void placeCounter(int block) {
        countedAt[block] = blocks.first[block];
        countedBy[block] = SAVED;
        for (int i = blocks.first[block]; i <= blocks.last(block); i++) {
            int register = registerBefore(i);
            if (register == FLAGS || register != SAVED && countedBy[block] == SAVED) {
                countedAt[block] = i;
                countedBy[block] = register;
            }
            if (register == FLAGS) {
                return;
            }
        }
    }

    @Override
    public List<Block> blocks() {
        List<Block> all = new ArrayList<>();
        for (int block = 0; block < blocks.count; block++) {
            long start = steps.address(blocks.first[block]);
            int last = blocks.last(block);
            long end = steps.address(last) + steps.get(last).length();
            long[] addresses = IntStream.rangeClosed(blocks.first[block], last)
                    .mapToLong(steps::address)
                    .toArray();
            all.add(new Block((int) (end - start), addresses, flow.ofBlock[block]));
        }
        return all;
    }

    @Override
    public List<Arc> arcs() {
        return flow.arcs;
    }

    @Override
    public int counters() {
        return flow.counters;
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public int tableSize() {
        return tableSize;
    }

    @Override
    public byte[] table() {
        return table;
    }

    @Override
    public int place(long address) {
        int number = steps.at(address);
        return number < 0 ? -1 : places[number];
    }

    @Override
    public int landing(long address) {
        return landings[steps.at(address)];
    }

    @Override
    public int end(int piece) {
        return ends[piece];
    }

    @Override
    public byte[] code(long at, long counter, long tableAt) {
        return new Writer(at, counter, tableAt).write();
    }

    /// The register that a computed jump goes through.
    private int register(ComputedJump jump) {
        boolean indexIsFree = jump.index() >= 0 && isFree(jump.index()) && (NOT_PASSED >> jump.index() & 1) != 0;
        if (jump.register() == RSP || jump.register() < 0 && !isFree(R11) && !indexIsFree) {
            throw new IllegalArgumentException("no register is free at a computed jump");
        } else if (jump.register() >= 0 && (isFree(jump.register()) || !isFree(R11))) {
            return jump.register();
        }
        return isFree(R11) ? R11 : jump.index();
    }

    private boolean isFree(int register) {
        return (liveness.atComputed() >> register & 1) == 0;
    }

    private int toRestore(ComputedJump jump) {
        int register = register(jump);
        return isFree(register) ? NOTHING : register;
    }

    private record Fixup(int at, int step) {}

    /// Writes one copy.
    private final class Writer {
        private final long at;
        private final long counter;
        private final long tableAt;
        private final ByteBuffer out;
        private final List<Fixup> fixups = new ArrayList<>();

        /// Displacements that refer to the start of a piece, in `out` behind the code.
        private final List<Fixup> starts = new ArrayList<>();

        /// By the register that is made good.
        private final Map<Integer, int[]> elsewhere = new HashMap<>();

        Writer(long at, long counter, long tableAt) {
            this.at = at;
            this.counter = counter;
            this.tableAt = tableAt;
            int registers =
                    (int) computed.stream().mapToInt(Table::register).distinct().count();
            int ofStep = STEP_MAX + 48 * steps.pieces.size() + 32 * registers;
            int ofJumps = Math.multiplyExact(32 * computed.size(), blocks.computed.cardinality());
            int room = Math.addExact(Math.multiplyExact(steps.count() + 1, ofStep), ofJumps);
            out = ByteBuffer.allocate(room).order(ByteOrder.LITTLE_ENDIAN);
        }

        byte[] write() {
            for (int i = 0; i < steps.count(); i++) {
                places[i] = out.position();
                int block = blocks.blockOf[i];
                if (blocks.isFirst(i)) {
                    count(flow.before[block], registerBefore(i));
                }
                landings[i] = out.position();
                if (countedAt[block] == i) {
                    count(flow.ofBlock[block], countedBy[block]);
                }
                step(i);
                if (steps.next(i) < 0) {
                    if (steps.get(i).fallsThrough()) {
                        count(flow.behind[block], SAVED);
                        put(Encoding.JUMP);
                        displacement(steps.address(i) + steps.get(i).length());
                    }
                    ends[steps.pieceOf[i]] = out.position();
                }
            }
            List<int[]> entrances = computed.stream().map(this::entrances).toList();
            for (Fixup fixup : fixups) {
                out.putInt(fixup.at, landings[fixup.step] - (fixup.at + Integer.BYTES));
            }
            while (out.position() % Long.BYTES != 0) {
                put(0xCC);
            }
            for (Fixup start : starts) {
                out.putInt(start.at, out.position() + start.step * Long.BYTES - (start.at + Integer.BYTES));
            }
            if (!computed.isEmpty()) {
                for (CodePiece piece : steps.pieces) {
                    out.putLong(piece.address());
                }
                fillTable(entrances);
            }
            return Arrays.copyOf(out.array(), out.position());
        }

        /// Code that a table's computed jumps lead to, by instruction: it counts the jump and continues there.
        private int[] entrances(Table table) {
            int[] entrances =
                    elsewhere.computeIfAbsent(table.register, this::unforeseen).clone();
            int[] counters = new int[blocks.count];
            Arrays.fill(counters, NONE);
            for (Arc arc : flow.arcs) {
                if (table.jump != NOTHING && arc.from() == blocks.blockOf[table.jump] && arc.to() >= 0) {
                    counters[arc.to()] = arc.counter();
                }
            }
            BitSet foreseen = blocks.computed;
            for (int block = foreseen.nextSetBit(0); block >= 0; block = foreseen.nextSetBit(block + 1)) {
                entrances[blocks.first[block]] = entrance(blocks.first[block], table.register, counters[block]);
            }
            return entrances;
        }

        /// Entrances of the places that computed jumps are not expected to lead to.
        private int[] unforeseen(int register) {
            int[] entrances = new int[steps.count()];
            for (int i = 0; i < entrances.length; i++) {
                if (!blocks.isFirst(i) || !blocks.computed.get(blocks.blockOf[i])) {
                    entrances[i] = entrance(i, register, flow.counters - 1);
                }
            }
            return entrances;
        }

        private int entrance(int step, int register, int counter) {
            if (register == NOTHING && counter == NONE) {
                return landings[step];
            }
            int at = out.position();
            if (register != NOTHING) {
                put(0x48 | (register & 8) >> 1, 0x03, 5 | (register & 7) << 3); // add start(%rip),%register
                start(steps.pieceOf[step]);
            }
            count(counter, FLAGS);
            put(Encoding.JUMP);
            jumpTo(step);
            return at;
        }

        private void fillTable(List<int[]> entrances) {
            ByteBuffer words = ByteBuffer.allocate(tableSize).order(ByteOrder.LITTLE_ENDIAN);
            for (int[] places : entrances) {
                for (CodePiece piece : steps.pieces) {
                    for (long address = piece.address(); address < piece.end(); address++) {
                        int number = steps.at(address);
                        words.putLong(number < 0 ? address : at + places[number]);
                    }
                }
            }
            table = words.array();
        }

        private void count(int number, int register) {
            if (number != NONE) {
                countAt(counter + (long) number * Long.BYTES, register);
            }
        }

        private void countAt(long address, int register) {
            if (register == FLAGS) {
                put(0x65, 0x48, 0xFF, 0x04, 0x25); // incq %gs:address
                out.putInt((int) address);
                return;
            } else if (register == SAVED) {
                put(0x48, 0x8D, 0x64, 0x24, -RED_ZONE, 0x50); // lea -128(%rsp),%rsp; push %rax
                countAt(address, 0);
                put(0x58, 0x48, 0x8D, 0xA4, 0x24); // pop %rax; lea 128(%rsp),%rsp
                out.putInt(RED_ZONE);
                return;
            }
            int low = register & 7;
            int rex = 0x48 | (register & 8) >> 1;
            put(0x65, rex, 0x8B, 4 | low << 3, 0x25);
            out.putInt((int) address);
            put(0x48 | (register & 8) >> 1 | (register & 8) >> 3, 0x8D, 0x40 | low << 3 | low);
            if (low == RSP) {
                put(0x24);
            }
            put(1);
            put(0x65, rex, 0x89, 4 | low << 3, 0x25);
            out.putInt((int) address);
        }

        private void step(int number) {
            Instruction instruction = steps.get(number);
            byte[] code = steps.code(number);
            if (steps.isComputedJump(number)) {
                jumpComputed(number, instruction, code);
                return;
            }
            switch (instruction.kind()) {
                case PLAIN -> out.put(code);
                case RIP_RELATIVE, INDIRECT_CALL -> reaim(instruction, code);
                case CALL -> {
                    long target = instruction.target();
                    if (steps.holds(target) && target != steps.pieces.getFirst().address()) {
                        throw new IllegalArgumentException("it calls its own code, perhaps to learn its address");
                    }
                    put(Encoding.CALL);
                    displacement(target);
                }
                case JUMP -> {
                    put(Encoding.JUMP);
                    jump(number);
                }
                case CONDITIONAL_JUMP -> {
                    put(0x0F, 0x80 | instruction.opcode() & 0xF);
                    jump(number);
                }
                case COUNTED_JUMP -> {
                    out.put(code, 0, instruction.relativeAt());
                    put(2, 0xEB, Encoding.CALL_LENGTH, Encoding.JUMP);
                    jump(number);
                }
                case TRANSACTION -> throw new IllegalArgumentException("a transaction");
                case BOUND ->
                    throw new IllegalArgumentException("a far call, or an operand relative to half an address");
            }
        }

        private void reaim(Instruction instruction, byte[] code) {
            int start = out.position();
            out.put(code);
            if (instruction.relativeSize() != 0) {
                out.putInt(
                        start + instruction.relativeAt(),
                        Encoding.displacement(at + out.position(), instruction.target()));
            }
        }

        private void jump(int number) {
            int target = steps.target(number);
            if (target >= 0) {
                jumpTo(target);
            } else if (steps.holds(steps.get(number).target())) {
                throw new IllegalArgumentException("it jumps into the middle of an instruction");
            } else {
                displacement(steps.get(number).target());
            }
        }

        private void jumpTo(int step) {
            fixups.add(new Fixup(out.position(), step));
            out.putInt(0);
        }

        private void displacement(long target) {
            out.putInt(Encoding.displacement(at + out.position() + Integer.BYTES, target));
        }

        /// Goes through the table of the piece that the target is in; if it is in none, to the target.
        private void jumpComputed(int number, Instruction instruction, byte[] code) {
            ComputedJump jump = ComputedJump.of(code);
            int needed = liveness.atComputed();
            if ((needed & Liveness.FLAGS) != 0) {
                throw new IllegalArgumentException("flags are needed behind a computed jump");
            }
            int register = register(jump);
            if (jump.register() < 0) {
                byte[] load = jump.load(register);
                int start = out.position();
                out.put(load);
                if (instruction.relativeSize() != 0) {
                    int end = start + load.length;
                    out.putInt(end - Integer.BYTES, Encoding.displacement(at + end, instruction.target()));
                }
            } else if (jump.register() != register) {
                put(
                        0x48 | (jump.register() & 8) >> 1 | register >> 3,
                        0x89,
                        0xC0 | (jump.register() & 7) << 3 | register & 7);
            }
            int low = register & 7;
            int asOperand = 0x48 | register >> 3;
            int asSource = 0x48 | (register & 8) >> 1;
            int through = 0;
            while (!isThrough(computed.get(through), number, jump)) {
                through++;
            }
            long offset = (long) through * (tableSize / computed.size());
            for (int piece = 0; piece < steps.pieces.size(); piece++) {
                int length = steps.pieces.get(piece).code().length;
                put(asSource, 0x2B, 5 | low << 3); // sub start(%rip),%register
                start(piece);
                put(asOperand, 0x81, 0xF8 | low); // cmp $length,%register
                out.putInt(length);
                put(0x73, 8); // jae
                put(0x40 | (register & 8) >> 2, 0xFF, 0x24, 0xC5 | low << 3); // jmp *table(,%register,8)
                out.putInt((int) (tableAt + offset));
                put(asSource, 0x03, 5 | low << 3); // add start(%rip),%register
                start(piece);
                offset += (long) length * Long.BYTES;
            }
            put(0x40 | register >> 3, 0xFF, 0xE0 | low);
        }

        private boolean isThrough(Table table, int number, ComputedJump jump) {
            return table.jump == number || table.jump == NOTHING && table.register == toRestore(jump);
        }

        private void start(int piece) {
            starts.add(new Fixup(out.position(), piece));
            out.putInt(0);
        }

        private void put(int... values) {
            for (int value : values) {
                out.put((byte) value);
            }
        }
    }
}
