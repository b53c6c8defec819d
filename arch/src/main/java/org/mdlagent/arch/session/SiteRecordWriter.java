package org.mdlagent.arch.session;

import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.SiteKind;

/// Writes the fields that Java owns in a patch site's record.
///
/// @param address of the record
public record SiteRecordWriter(long address) {
    /// How one store toggles the site.
    ///
    /// @param alias address of the toggling store, in the writable view of the code
    /// @param plan  says what to store
    public void setToggle(long alias, PatchPlan plan) {
        Memory.putLong(address + SiteDescriptor.STORE, alias);
        Memory.putLong(address + SiteDescriptor.ON, plan.on());
        Memory.putLong(address + SiteDescriptor.OFF, plan.off());
        Memory.putByte(address + SiteDescriptor.SIZE_AT, (byte) plan.toggleSize());
    }

    /// Writes all of a record that is not yet published.
    ///
    /// @param alias    address of the toggling store, in the writable view of the code
    /// @param plan     the values to store
    /// @param code     address of the instruction
    /// @param image    offset of a string of the session
    /// @param function address of its record
    /// @param owner    address of the record of the function that contains the instruction, 0 if there is none
    public void create(
            int index,
            SiteKind kind,
            long alias,
            PatchPlan plan,
            long code,
            long stub,
            int image,
            long function,
            long owner) {
        long[] words = new long[(int) (SiteDescriptor.SIZE / Long.BYTES)];
        words[at(SiteDescriptor.FUNCTION)] = function;
        words[at(SiteDescriptor.STORE)] = alias;
        words[at(SiteDescriptor.ON)] = plan.on();
        words[at(SiteDescriptor.OFF)] = plan.off();
        words[at(SiteDescriptor.SIZE_AT)] = plan.toggleSize() | kind.code() << Byte.SIZE | (long) index << Integer.SIZE;
        words[at(SiteDescriptor.ADDRESS)] = code;
        words[at(SiteDescriptor.STUB)] = stub;
        words[at(SiteDescriptor.IMAGE)] = Integer.toUnsignedLong(image);
        words[at(SiteDescriptor.OWNER)] = owner;
        Memory.put(address, words, 0, words.length);
    }

    private static int at(long field) {
        return (int) (field / Long.BYTES);
    }

    /// @param function address of its record
    public void setFunction(long function) {
        Memory.putLong(address + SiteDescriptor.FUNCTION, function);
    }

    public void setKind(SiteKind kind) {
        Memory.putByte(address + SiteDescriptor.KIND, kind.code());
    }

    public void setIndex(int index) {
        Memory.putInt(address + SiteDescriptor.INDEX, index);
    }

    /// @param code address of its instruction
    public void setCode(long code) {
        Memory.putLong(address + SiteDescriptor.ADDRESS, code);
    }

    public void setStub(long stub) {
        Memory.putLong(address + SiteDescriptor.STUB, stub);
    }

    /// @param image offset of a string of the session
    public void setImage(int image) {
        Memory.putInt(address + SiteDescriptor.IMAGE, image);
    }

    /// @param function address of the record of the function that contains its instruction, 0 if there is none
    public void setOwner(long function) {
        Memory.putLong(address + SiteDescriptor.OWNER, function);
    }

    /// @param code end of the site's snippets
    public void setSnippets(long code) {
        Memory.putLong(address + SiteDescriptor.SNIPPETS, code);
    }

    /// How the jump to the site's gate is installed and removed.
    ///
    /// @param jump address of a struct mdl_jump
    public void setSteps(long jump) {
        long flags = address + SiteDescriptor.FLAGS;
        setOwner(jump);
        Memory.putByte(flags, (byte) (Memory.getByte(flags) | SiteDescriptor.FLAG_STEPS));
    }

    /// Opens the site to clients.
    ///
    /// @param bodies offset of the table of its stub's targets
    public void setBodiesRelease(int bodies) {
        Memory.putIntRelease(address + SiteDescriptor.BODIES, bodies);
    }
}
