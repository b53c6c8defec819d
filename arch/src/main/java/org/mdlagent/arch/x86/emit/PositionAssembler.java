package org.mdlagent.arch.x86.emit;

import static org.mdlagent.arch.x86.bytes.Register.RAX;
import static org.mdlagent.arch.x86.bytes.Register.RDX;

import org.mdlagent.arch.snippet.Expression.Position;
import org.mdlagent.arch.snippet.PositionTableDescriptor;
import org.mdlagent.arch.x86.bytes.Assembler;
import org.mdlagent.arch.x86.bytes.Assembler.Label;
import org.mdlagent.arch.x86.bytes.Condition;
import org.mdlagent.arch.x86.bytes.Register;

/// Code that finds a number's position in a table; its length does not depend on the table.
final class PositionAssembler {
    private final Assembler out;
    private final SnippetFrame frame;
    private final Register number;
    private final Label end = new Label();

    private PositionAssembler(Assembler out, SnippetFrame frame, Register number) {
        this.out = out;
        this.frame = frame;
        this.number = number;
    }

    /// Replaces the number by its position.
    static void find(Assembler out, SnippetFrame frame, Position position, Register number) {
        PositionAssembler assembler = new PositionAssembler(out, frame, number);
        frame.change(RAX);
        out.mov(RAX, position.table());
        out.load(RAX, RAX, 0);
        if (position.direct()) {
            assembler.lookUpIndexed();
        } else {
            assembler.lookUpHashed();
        }
        out.movInt(number, 0);
        out.bind(assembler.end);
    }

    private void lookUpIndexed() {
        Label unknown = new Label();
        out.sub(number, RAX, PositionTableDescriptor.LOWEST);
        out.cmp(number, RAX, PositionTableDescriptor.COUNT);
        out.jump(Condition.ABOVE_OR_EQUAL, unknown);
        out.loadIndexed(number, RAX, number, PositionTableDescriptor.ENTRIES);
        out.jump(end);
        out.bind(unknown);
    }

    private void lookUpHashed() {
        frame.change(RDX);
        out.mov(RDX, number);
        out.multiply(RDX, RAX, PositionTableDescriptor.MULTIPLIER);
        out.shiftRight(RDX, Integer.SIZE);
        out.and(RDX, RAX, PositionTableDescriptor.MASK);
        out.add(RAX, RDX);
        for (int place = 0; place < PositionTableDescriptor.PLACES; place++) {
            Label next = new Label();
            int entry = PositionTableDescriptor.ENTRIES + place * PositionTableDescriptor.ENTRY_SIZE;
            out.cmp(number, RAX, entry + PositionTableDescriptor.KEY);
            out.jump(Condition.NOT_EQUAL, next);
            out.load(number, RAX, entry + PositionTableDescriptor.POSITION);
            out.jump(end);
            out.bind(next);
        }
    }
}
