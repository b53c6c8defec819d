package org.mdlagent.arch.x86.emit;

import static org.mdlagent.arch.x86.bytes.Condition.EQUAL;
import static org.mdlagent.arch.x86.bytes.Condition.NOT_EQUAL;
import static org.mdlagent.arch.x86.bytes.Register.R10;
import static org.mdlagent.arch.x86.bytes.Register.R11;
import static org.mdlagent.arch.x86.bytes.Register.RAX;
import static org.mdlagent.arch.x86.bytes.Register.RCX;
import static org.mdlagent.arch.x86.bytes.Register.RSP;

import java.util.ArrayList;
import java.util.List;
import org.mdlagent.arch.layout.CallDescriptor;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.arch.layout.ThreadDescriptor;
import org.mdlagent.arch.layout.ValueDescriptor;
import org.mdlagent.arch.shim.RecordingEntryPoints;
import org.mdlagent.arch.site.RecordingCode.ClientBodies;
import org.mdlagent.arch.x86.bytes.Assembler;
import org.mdlagent.arch.x86.bytes.Assembler.Label;
import org.mdlagent.arch.x86.bytes.Register;

/// Bodies of sites with a client or snippets. Code that calls C functions is in the shim (`calls.S`), which saves
/// registers and has unwind tables; counting, and the calls of a site's snippets, are here. All bodies then
/// continue in the recording code if the recorder wants the site, so one body serves any set of clients.
///
/// At hooks: R10 site; RAX, RDI and RSI for the recording code. At whole functions and counting sites: R11 site;
/// every other register is preserved, and the application's R11 is in the first word below the stack pointer.
final class ClientAssembler {
    /// Return address of a body in its stub.
    private static final int STUB_AT = -8;

    private static final int SAVED_R10 = -16;
    private static final int SAVED_RAX = -24;
    private static final int SAVED_R11 = -24;
    private static final int COUNTS = (int) ThreadDescriptor.COUNTS;
    private static final int INDEX = (int) SiteDescriptor.INDEX;
    private static final int RECORDING = (int) SiteDescriptor.RECORDING;
    private static final int CLIENT = (int) SiteDescriptor.CLIENT;
    private static final int FLAGS = (int) SiteDescriptor.FLAGS;
    private static final int SITE = (int) SiteDescriptor.SIZE;
    private static final int UNTIMED_BYTE = (int) CallDescriptor.INSIDE + Long.BYTES - 1;
    private static final int UNTIMED = (int) (CallDescriptor.UNTIMED >>> Long.SIZE - Byte.SIZE);
    private static final int DEPTH = ValueDescriptor.DEPTH * Long.BYTES;

    private final RecordingEntryPoints shim;
    private final Assembler out;
    private final List<UnwindRow> unwind = new ArrayList<>();
    private final Label hookEntryLiteral = new Label();
    private final Label hookExitLiteral = new Label();
    private final Label functionEntryLiteral = new Label();
    private final Label functionExitLiteral = new Label();
    private final Label countLiteral = new Label();
    private final Label valuesLiteral = new Label();
    private final Label valuesFramedLiteral = new Label();

    ClientAssembler(RecordingEntryPoints shim, Assembler out) {
        this.shim = shim;
        this.out = out;
    }

    /// Unwind rules of the code emitted so far.
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

    /// @param untimed address of the code that makes the words of an unrecorded call
    ClientBodies functionEntry(long record, long untimed) {
        return keepingRegisters(record, untimed, functionEntryLiteral);
    }

    ClientBodies count(long record) {
        return keepingRegisters(record, 0, countLiteral);
    }

    /// Returns of whole functions have no counting body: a function of the shim counts them.
    ///
    /// @param untimed address of the code that drops the words of an unrecorded call
    ClientBodies functionExit(long record, long untimed) {
        Label client = new Label();
        Label retry = new Label();
        Label skip = new Label();
        Label timed = new Label();
        int call = out.offset();
        unwind.add(new UnwindRow(call, UnwindRow.Rule.IN_CALL));
        out.bind(client);
        out.jumpThrough(functionExitLiteral);

        int snippets = out.offset();
        out.store(RSP, SAVED_R10, R10);
        out.store(RSP, SAVED_R11, R11);
        out.load(R10, RSP, STUB_AT);
        out.load(R10, R10, FunctionStub.SITE_AT - FunctionStub.RETURN_AT);
        out.add(R10, SITE);
        out.bind(retry);
        int resume = runSnippets(skip, retry, valuesFramedLiteral);
        out.bind(skip);
        out.cmp(R10, CLIENT, 0);
        out.load(R11, RSP, SAVED_R11);
        out.load(R10, RSP, SAVED_R10);
        out.jump(NOT_EQUAL, client);
        out.testByte(RSP, UNTIMED_BYTE, UNTIMED);
        out.jump(EQUAL, timed);
        out.jump(untimed);
        out.bind(timed);
        out.jump(record);
        unwind.add(new UnwindRow(out.offset(), UnwindRow.Rule.CALLED));
        return new ClientBodies(call, call, snippets, resume);
    }

    /// Emits the literals, after the code.
    void literals() {
        out.literal(hookEntryLiteral, shim.clients().hookEntry());
        out.literal(hookExitLiteral, shim.clients().hookExit());
        out.literal(functionEntryLiteral, shim.clients().functionEntry());
        out.literal(functionExitLiteral, shim.clients().functionExit());
        out.literal(countLiteral, shim.clients().count());
        out.literal(valuesLiteral, shim.clients().values());
        out.literal(valuesFramedLiteral, shim.clients().valuesFramed());
    }

    private ClientBodies hook(long record, Label inShim) {
        Label client = new Label();
        Label done = new Label();
        int call = out.offset();
        out.bind(client);
        out.mov(R11, record);
        out.jumpThrough(inShim);

        int count = out.offset();
        findCounts(R11, client);
        out.loadInt(RCX, R10, INDEX);
        out.incrementIndexed(R11, RCX);
        out.cmpByte(R10, RECORDING, 0);
        out.jump(EQUAL, done);
        out.jump(record);
        out.bind(done);
        out.ret();

        int snippets = out.offset();
        Label retry = new Label();
        Label skip = new Label();
        out.bind(retry);
        int resume = runSnippets(skip, retry, valuesLiteral);
        out.bind(skip);
        out.cmp(R10, CLIENT, 0);
        out.jump(NOT_EQUAL, client);
        out.cmpByte(R10, RECORDING, 0);
        out.jump(EQUAL, done);
        out.jump(record);
        return new ClientBodies(call, count, snippets, resume);
    }

    /// @param untimed 0 if returns are not seen
    private ClientBodies keepingRegisters(long record, long untimed, Label inShim) {
        Label slow = new Label();
        Label client = new Label();
        Label pass = new Label();
        Label sibling = new Label();
        int call = out.offset();
        out.bind(client);
        out.jumpThrough(inShim);

        int count = out.offset();
        out.store(RSP, SAVED_R10, R10);
        if (untimed != 0) {
            requireNoSibling(sibling);
        }
        findCounts(R10, slow);
        out.store(RSP, SAVED_RAX, RAX);
        out.loadInt(RAX, R11, INDEX);
        out.incrementIndexed(R10, RAX);
        out.load(RAX, RSP, SAVED_RAX);
        out.load(R10, RSP, SAVED_R10);
        out.cmpByte(R11, RECORDING, 0);
        out.jump(EQUAL, pass);
        out.jump(record);
        out.bind(pass);
        out.load(R11, RSP, FunctionStub.SAVED_R11);
        out.ret(); // with ZF: nobody wants the return

        out.bind(slow);
        out.load(R10, RSP, SAVED_R10);
        out.jumpThrough(inShim);

        int snippets = out.offset();
        Label retry = new Label();
        Label skip = new Label();
        Label quiet = new Label();
        out.store(RSP, SAVED_R10, R10);
        if (untimed != 0) {
            requireNoSibling(sibling);
        }
        out.mov(R10, R11);
        out.bind(retry);
        int resume = runSnippets(skip, retry, valuesLiteral);
        out.bind(skip);
        out.mov(R11, R10);
        out.load(R10, RSP, SAVED_R10);
        out.cmp(R11, CLIENT, 0);
        out.jump(NOT_EQUAL, client);
        if (untimed == 0) {
            out.cmpByte(R11, RECORDING, 0);
            out.jump(EQUAL, pass);
            out.jump(record);
        } else {
            out.cmp(R11, SITE + CLIENT, 0);
            out.jump(NOT_EQUAL, client);
            out.cmpByte(R11, RECORDING, 0);
            out.jump(EQUAL, quiet);
            out.jump(record);
            out.bind(quiet);
            out.testByte(R11, SITE + FLAGS, SiteDescriptor.FLAG_SNIPPETS);
            out.jump(EQUAL, pass);
            out.jump(untimed);
            out.bind(sibling);
            out.load(RAX, RSP, SAVED_RAX);
            out.load(R10, RSP, SAVED_R10);
            out.setCarry();
            out.ret();
        }
        return new ClientBodies(call, count, snippets, resume);
    }

    /// A call reached by a sibling call gets here again after the previous call has ended; nothing must run twice.
    /// R10 is saved, and changes.
    private void requireNoSibling(Label sibling) {
        out.store(RSP, SAVED_RAX, RAX);
        FunctionStub.findSibling(out, Long.BYTES + (int) CallDescriptor.SIZE, R10, RAX, sibling);
        out.load(RAX, RSP, SAVED_RAX);
    }

    /// Runs the snippets of the site at R10, with the thread's values in R11. They restore R10.
    ///
    /// The code read from the site, and everything that it refers to, must exist until the thread's depth is 0
    /// again. So the depth is raised first, and code is freed only after other code has been stored (`Snippets`).
    ///
    /// @param skip  continuation if the thread cannot have values
    /// @param retry where to start again once it has them
    /// @return offset of the snippets' continuation
    private int runSnippets(Label skip, Label retry, Label values) {
        Label found = new Label();
        Label missing = new Label();
        Label made = new Label();
        out.loadThreadWord(R11, shim.tlsOffset());
        out.test(R11);
        out.jump(EQUAL, missing);
        out.load(R11, R11, (int) ThreadDescriptor.VALUES);
        out.test(R11);
        out.jump(NOT_EQUAL, found);
        out.bind(missing);
        out.lea(R11, made);
        out.jumpThrough(values);
        out.bind(made);
        out.jump(EQUAL, skip);
        out.jump(retry);
        out.bind(found);
        out.increment(R11, DEPTH);
        out.jumpThrough(R10, (int) SiteDescriptor.SNIPPETS);
        int resume = out.offset();
        out.decrement(R11, DEPTH);
        return resume;
    }

    /// Loads the thread's counters; jumps to `slow` if it has none yet.
    private void findCounts(Register counts, Label slow) {
        out.loadThreadWord(counts, shim.tlsOffset());
        out.test(counts);
        out.jump(EQUAL, slow);
        out.load(counts, counts, COUNTS);
        out.test(counts);
        out.jump(EQUAL, slow);
    }
}
