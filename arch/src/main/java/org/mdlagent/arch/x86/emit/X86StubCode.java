package org.mdlagent.arch.x86.emit;

import java.util.List;
import org.mdlagent.arch.code.TrampolineRange;
import org.mdlagent.arch.shim.RecordingEntryPoints;
import org.mdlagent.arch.site.Body;
import org.mdlagent.arch.site.FrameKey;
import org.mdlagent.arch.site.RecordingCode;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.arch.site.StubCode;

/// Trampolines of x86-64 code.
public final class X86StubCode implements StubCode {
    @Override
    public RecordingCode recordingCode(RecordingEntryPoints shim, long at) {
        return new RecordingAssembler(shim, at).assemble();
    }

    @Override
    public int hookStubSize() {
        return HookStub.SIZE;
    }

    @Override
    public byte[] hookStub(SiteInstruction site, FrameKey key, long record, long at, long body) {
        return HookStub.assemble(site, key, record, at, body);
    }

    @Override
    public int functionStubSize() {
        return FunctionStub.SIZE;
    }

    @Override
    public byte[] functionStub(long site, long at, long body, long entry, long exit, long siblingExit) {
        return FunctionStub.assemble(site, at, body, entry, exit, siblingExit);
    }

    @Override
    public int counterSize() {
        return FunctionStub.COUNTER_SIZE;
    }

    @Override
    public byte[] counter(long at, long stub, long body, int index, int tlsOffset) {
        return FunctionStub.assembleCounter(at, stub, body, index, tlsOffset);
    }

    @Override
    public long counterHead(int distance) {
        return FunctionStub.counterHead(distance);
    }

    @Override
    public int countStubSize() {
        return FunctionStub.COUNT_SIZE;
    }

    @Override
    public byte[] countStub(long site, long at, long count, long body) {
        return FunctionStub.assembleCount(site, at, count, body);
    }

    @Override
    public int countEntryAt() {
        return FunctionStub.COUNT_ENTRY_AT;
    }

    @Override
    public int importStubSize() {
        return ImportStub.SIZE;
    }

    @Override
    public byte[] importStub(long at, long target) {
        return ImportStub.assemble(at, target);
    }

    @Override
    public SiteInstruction importSite(long at) {
        return new SiteInstruction(
                at, SiteInstruction.Form.NOP, ImportStub.SITE_LENGTH, SiteInstruction.Role.FUNCTION, at);
    }

    @Override
    public int displacementAt(Body body) {
        return switch (body) {
            case ENTRY, EXIT -> HookStub.DISPLACEMENT_AT;
            case FUNCTION_ENTRY -> FunctionStub.ENTRY_DISPLACEMENT_AT;
            case COUNT -> FunctionStub.COUNT_DISPLACEMENT_AT;
            case FUNCTION_EXIT -> FunctionStub.EXIT_DISPLACEMENT_AT;
        };
    }

    @Override
    public byte[] unwindTable(long at, List<TrampolineRange> ranges, RecordingEntryPoints shim) {
        if (ranges.stream().allMatch(range -> range.kind() == TrampolineRange.Kind.LEAF)) {
            return UnwindTable.build(at, ranges, List.of());
        }
        RecordingAssembler recording = new RecordingAssembler(shim, 0);
        recording.assemble();
        return UnwindTable.build(at, ranges, recording.unwind());
    }
}
