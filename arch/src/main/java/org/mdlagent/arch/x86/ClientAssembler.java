package org.mdlagent.arch.x86;

import static org.mdlagent.arch.x86.Condition.EQUAL;
import static org.mdlagent.arch.x86.Register.R10;
import static org.mdlagent.arch.x86.Register.R11;
import static org.mdlagent.arch.x86.Register.RAX;
import static org.mdlagent.arch.x86.Register.RSI;
import static org.mdlagent.arch.x86.Register.RSP;

import java.util.ArrayList;
import java.util.List;
import org.mdlagent.arch.RecordingCode.ClientBodies;
import org.mdlagent.arch.RecordingEntryPoints;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.x86.Assembler.Label;

/// The bodies of sites that have a client. What calls a C function is in the shim (`calls.S`), which knows what to
/// save and how it is unwound; what only counts is here. Both then go on in the recording code if the recorder
/// wants the site: one body serves any set of clients.
///
/// At hooks: R10 site, RAX and RDI for the recording code. At whole functions, and where calls are counted: R11
/// site, every other register is kept, and the R11 of the application lies in the first word below the stack
/// pointer.
final class ClientAssembler {
    private static final int SAVED_R10 = -16;
    private static final int SAVED_RAX = -24;
    private static final int COUNTS = (int) ThreadDescriptor.COUNTS;
    private static final int INDEX = (int) SiteDescriptor.INDEX;
    private static final int RECORDING = (int) SiteDescriptor.RECORDING;

    private final RecordingEntryPoints shim;
    private final Assembler out;
    private final List<UnwindRow> unwind = new ArrayList<>();
    private final Label hookEntryLiteral = new Label();
    private final Label hookExitLiteral = new Label();
    private final Label functionEntryLiteral = new Label();
    private final Label functionExitLiteral = new Label();
    private final Label countLiteral = new Label();

    ClientAssembler(RecordingEntryPoints shim, Assembler out) {
        this.shim = shim;
        this.out = out;
    }

    /// How to unwind from within the code emitted so far.
    List<UnwindRow> unwind() {
        return List.copyOf(unwind);
    }

    /// @param record address of the recording code, as in the other methods
    ClientBodies hookEntry(long record) {
        unwind.add(new UnwindRow(out.offset(), UnwindRow.Rule.CALLED));
        return hook(record, hookEntryLiteral);
    }

    ClientBodies hookExit(long record) {
        return hook(record, hookExitLiteral);
    }

    ClientBodies functionEntry(long record) {
        return keepingRegisters(record, functionEntryLiteral);
    }

    ClientBodies count(long record) {
        return keepingRegisters(record, countLiteral);
    }

    /// The return of a whole function has no body of its own that counts: a function of the shim does.
    ClientBodies functionExit() {
        int call = out.offset();
        unwind.add(new UnwindRow(call, UnwindRow.Rule.FRAMED));
        out.jumpThrough(functionExitLiteral);
        unwind.add(new UnwindRow(out.offset(), UnwindRow.Rule.CALLED));
        return new ClientBodies(call, call);
    }

    /// Emits what the code refers to. It goes behind the rest.
    void literals() {
        out.literal(hookEntryLiteral, shim.clients().hookEntry());
        out.literal(hookExitLiteral, shim.clients().hookExit());
        out.literal(functionEntryLiteral, shim.clients().functionEntry());
        out.literal(functionExitLiteral, shim.clients().functionExit());
        out.literal(countLiteral, shim.clients().count());
    }

    private ClientBodies hook(long record, Label inShim) {
        Label slow = new Label();
        Label done = new Label();
        int call = out.offset();
        out.bind(slow);
        out.mov(R11, record);
        out.jumpThrough(inShim);

        int count = out.offset();
        findCounts(R11, slow);
        out.loadInt(RSI, R10, INDEX);
        out.incrementIndexed(R11, RSI);
        out.cmpByte(R10, RECORDING, 0);
        out.jump(EQUAL, done);
        out.jump(record);
        out.bind(done);
        out.ret();
        return new ClientBodies(call, count);
    }

    private ClientBodies keepingRegisters(long record, Label inShim) {
        Label slow = new Label();
        Label pass = new Label();
        int call = out.offset();
        out.jumpThrough(inShim);

        int count = out.offset();
        out.store(RSP, SAVED_R10, R10);
        findCounts(R10, slow);
        out.store(RSP, SAVED_RAX, RAX);
        out.loadInt(RAX, R11, INDEX);
        out.incrementIndexed(R10, RAX);
        out.load(RAX, RSP, SAVED_RAX);
        out.load(R10, RSP, SAVED_R10);
        out.cmpByte(R11, RECORDING, 0);
        out.jump(EQUAL, pass);
        out.jump(record);
        // ZF: there is no frame.
        out.bind(pass);
        out.ret();

        out.bind(slow);
        out.load(R10, RSP, SAVED_R10);
        out.jumpThrough(inShim);
        return new ClientBodies(call, count);
    }

    /// The thread's counts, or `slow`: it has none yet.
    private void findCounts(Register counts, Label slow) {
        out.loadThreadWord(counts, shim.tlsOffset());
        out.test(counts);
        out.jump(EQUAL, slow);
        out.load(counts, counts, COUNTS);
        out.test(counts);
        out.jump(EQUAL, slow);
    }
}
