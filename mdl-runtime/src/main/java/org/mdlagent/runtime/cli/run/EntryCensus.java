package org.mdlagent.runtime.cli.run;

import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.elf.ElfFile;
import org.mdlagent.arch.elf.Segment;
import org.mdlagent.arch.site.EntryPun;
import org.mdlagent.arch.site.EntryPuns;
import org.mdlagent.arch.site.LengthDecoder;
import org.mdlagent.arch.site.Refusal;
import org.mdlagent.arch.site.SiteInstruction;
import org.mdlagent.fastinst.provider.FunctionEntries;
import org.mdlagent.fastinst.provider.KeyedRuntime;

/// How many functions of a file that was compiled without probes can have some, on this processor. What stands in
/// memory where a jump has to lead is known when the program runs.
///
/// @param functions all that were found
/// @param single    those whose first instruction has room for a jump
/// @param several   those where a jump takes the place of several instructions
/// @param gated     those of them where the jump stays when the probe is off
/// @param counted   those of them whose calls are counted only: they look at their return address, or do not bring
///     back the register that a probe of the whole call has its frame in
/// @param longer    functions of [#LONGER_BYTES] and more, whether they can be probed or not
/// @param probedLonger those of them that can be
/// @param functionBytes of the code of all functions
/// @param probedBytes of the code of those that can be probed
/// @param codeBytes of all code that is in the file
/// @param runtime   whose functions are counted only, or left alone; null for none
/// @param refused   how many are left alone, by reason
record EntryCensus(
        int functions,
        int single,
        int several,
        int gated,
        int counted,
        int longer,
        int probedLonger,
        long functionBytes,
        long probedBytes,
        long codeBytes,
        @Nullable KeyedRuntime runtime,
        Map<String, Integer> refused) {
    static final int LONGER_BYTES = 32;

    /// @param covered what becomes of threads that stand at instructions that a jump covers
    static EntryCensus of(ElfFile elf, LengthDecoder decoder, EntryPuns.Covered covered) throws IOException {
        InstructionSet instructions = InstructionSet.host();
        FunctionEntries entries = FunctionEntries.of(elf, instructions.search());
        Map<String, Integer> refused = new TreeMap<>();
        int single = 0;
        int several = 0;
        int gated = 0;
        int counted = 0;
        int longer = 0;
        int probedLonger = 0;
        long functionBytes = 0;
        long probedBytes = 0;
        for (int i = 0; i < entries.size(); i++) {
            int isLonger = entries.length(i) >= LONGER_BYTES ? 1 : 0;
            longer += isLonger;
            functionBytes += entries.length(i);
            switch (entries.entry(i, instructions.puns(), decoder, covered)) {
                case EntryPun pun -> {
                    probedLonger += isLonger;
                    probedBytes += entries.length(i);
                    gated += pun.inOneUnit() ? 0 : 1;
                    counted += pun.site().role() == SiteInstruction.Role.COUNT ? 1 : 0;
                    if (pun.leadsAnywhere()) {
                        single++;
                    } else {
                        several++;
                    }
                }
                case Refusal refusal -> refused.merge(refusal.reason(), 1, Integer::sum);
            }
        }
        long codeBytes =
                elf.executableSegments().stream().mapToLong(Segment::fileSize).sum();
        return new EntryCensus(
                entries.size(),
                single,
                several,
                gated,
                counted,
                longer,
                probedLonger,
                functionBytes,
                probedBytes,
                codeBytes,
                entries.runtime(),
                refused);
    }
}
