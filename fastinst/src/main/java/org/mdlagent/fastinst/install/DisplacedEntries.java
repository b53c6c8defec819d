package org.mdlagent.fastinst.install;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.code.Redirect;
import org.mdlagent.arch.code.RelocatedCode;
import org.mdlagent.arch.code.TrapTable;
import org.mdlagent.arch.elf.FrameRule;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.arch.site.EntryPun;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.fastinst.provider.ProbeSite;

/// Copies of the first instructions of functions that no compiler has prepared: a jump covers the originals
/// while a probe is on. Copies, and the trap rows that redirect threads to them from a trapping byte, last as
/// long as the session.
public final class DisplacedEntries {
    private final NativeApi api;
    private final InstructionSet instructions;
    private final CodeMemory code;
    private final Supplier<TrapTable> traps;

    /// Null while no instruction is displaced.
    private @Nullable TrapTable table;

    /// @param traps the session's table; requested once, for the first instruction that threads may be
    ///     stopped at
    public DisplacedEntries(NativeApi api, InstructionSet instructions, CodeMemory code, Supplier<TrapTable> traps) {
        this.api = api;
        this.instructions = instructions;
        this.code = code;
        this.traps = traps;
    }

    static boolean isOne(SiteInstruction site) {
        return site.form() == SiteInstruction.Form.INSTRUCTIONS;
    }

    /// Whether an atomic unit ends within the site's jump, so that it leads to a gate.
    static boolean isGated(ProbeSite site) {
        ProbeSite.Displaced displaced = site.displaced();
        return displaced != null && displaced.pun().cut() != null;
    }

    /// Whether threads may trap at the site's first byte, because its jump comes and goes by INT3.
    static boolean hasTrap(ProbeSite site) {
        ProbeSite.Displaced displaced = site.displaced();
        EntryPun.Cut cut = displaced == null ? null : displaced.pun().cut();
        return cut != null && cut.traps();
    }

    /// Whether such a jump can come and go while threads execute the site. Without T_max that ends with the first fork:
    /// membarrier does not reach the child.
    boolean isPassable(EntryPun.Cut cut, PatchPlan jump) {
        long header = api.session();
        int sync = Memory.getInt(header + HeaderDescriptor.SYNC);
        return cut.isPassable(jump.on(), jump.off())
                && (sync == HeaderDescriptor.SYNC_TMAX
                        || sync == HeaderDescriptor.SYNC_MEMBARRIER
                                && Memory.getLongAcquire(header + HeaderDescriptor.FORKS) == 0);
    }

    /// A copy of a site's instructions.
    ///
    /// @param code  relocated code for their original address; null if there can be no copy
    /// @param rules how callers are found from it, by offset in it
    record Copy(@Nullable RelocatedCode code, List<FrameRule> rules) {
        private static final Copy NONE = new Copy(null, List.of());

        /// In bytes; 0 if there can be no copy.
        int size() {
            return code == null ? 0 : code.bytes().length;
        }
    }

    /// The future copy of a site's instructions; [Copy#NONE] for other sites.
    Copy copyOf(ProbeSite site) {
        ProbeSite.Displaced displaced = site.displaced();
        if (displaced == null) {
            return Copy.NONE;
        }
        SiteInstruction hook = site.hook();
        try {
            RelocatedCode code = instructions.puns().displaced(api, hook, hook.address());
            List<FrameRule> rules = new ArrayList<>();
            for (FrameRule rule : displaced.rules()) {
                if (rule.offset() < hook.length()) {
                    if (code.starts()[rule.offset()] < 0) {
                        return Copy.NONE; // The site begins within an instruction.
                    }
                    int start = code.starts()[rule.offset()];
                    rules.add(start == rule.offset() ? rule : new FrameRule(start, rule.instructions()));
                }
            }
            return new Copy(code, rules);
        } catch (IllegalArgumentException e) {
            return Copy.NONE; // They cannot be executed elsewhere.
        }
    }

    /// Reserves what [#write] needs.
    ///
    /// @throws IllegalStateException when the session has no room for more traps, or SIGTRAP cannot be used
    void expect(List<Copy> copies) {
        int heads = 0;
        for (Copy copy : copies) {
            for (int i = 0; copy.code() != null && i < copy.code().starts().length; i++) {
                heads += copy.code().starts()[i] >= 0 ? 1 : 0;
            }
        }
        if (heads > 0) {
            table().reserve(heads);
        }
    }

    /// Writes a site's copy, and redirects threads to it that meet a trapping byte of its jump.
    ///
    /// @param made  relocated code for the address of the site's instructions
    /// @param at    address of the copy
    /// @param steps whether threads may trap at the site's first byte as well
    /// @throws IllegalStateException when the session has no room for more traps, or SIGTRAP cannot be used
    public void write(SiteInstruction site, RelocatedCode made, long at, boolean steps) {
        if (made.isMovable()) {
            put(site, at, made.moved(at - site.address()), steps);
        } else {
            write(site, at, steps);
        }
    }

    /// Writes a copy of the instructions that are at the site now.
    ///
    /// @throws IllegalStateException when the session has no room for more traps, or SIGTRAP cannot be used
    public void write(SiteInstruction site, long at, boolean steps) {
        put(site, at, instructions.puns().displaced(api, site, at), steps);
    }

    private void put(SiteInstruction site, long at, RelocatedCode copy, boolean steps) {
        Memory.put(code.alias(at), copy.bytes());
        for (int head = steps ? 0 : 1; head < copy.starts().length; head++) {
            if (copy.starts()[head] >= 0) {
                TrapTable rows = table();
                rows.publish(rows.row(site.address() + head), new Redirect.Jump(at + copy.starts()[head]).action());
            }
        }
    }

    private TrapTable table() {
        TrapTable known = table;
        if (known == null) {
            known = traps.get();
            table = known;
        }
        return known;
    }
}
