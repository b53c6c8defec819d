package org.mdlagent.profiler.report.statistics;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.mdlagent.profiler.report.profile.FunctionProfile;
import org.mdlagent.profiler.report.profile.RunProfile;
import org.mdlagent.profiler.text.BaseName;

/// The identity of a function across runs: equal symbols, both in the program or in libraries with the same
/// name. If a run has several such functions, their files decide, then their order.
///
/// @param image  "" for the program, whose name may differ between runs
/// @param file   "" if the symbol alone identifies the function: not every build records the file
/// @param number index among functions that are otherwise equal, in their order
record FunctionIdentity(String symbol, String image, String file, int number) {
    /// Symbols that several functions of one run share.
    static Set<String> ambiguous(Collection<RunProfile> runs) {
        Set<String> ambiguous = new HashSet<>();
        for (RunProfile run : runs) {
            Set<String> seen = new HashSet<>();
            for (FunctionProfile function : run.functions()) {
                if (!seen.add(function.symbol())) {
                    ambiguous.add(function.symbol());
                }
            }
        }
        return ambiguous;
    }

    /// The functions of a run by identity, in their order.
    ///
    /// @param ambiguous symbols that are not unique in at least one of the compared runs
    static Map<FunctionIdentity, FunctionProfile> of(RunProfile profile, Set<String> ambiguous) {
        Map<FunctionIdentity, FunctionProfile> byIdentity = new LinkedHashMap<>();
        Map<FunctionIdentity, Integer> numbers = new HashMap<>();
        for (FunctionProfile function : profile.functions()) {
            boolean programs = function.image().equals(profile.run().program());
            String image = programs ? "" : BaseName.of(function.image());
            String file = ambiguous.contains(function.symbol()) && function.file() != null
                    ? BaseName.of(function.file())
                    : "";
            FunctionIdentity first = new FunctionIdentity(function.symbol(), image, file, 0);
            int number = numbers.merge(first, 1, Integer::sum);
            byIdentity.put(new FunctionIdentity(function.symbol(), image, file, number), function);
        }
        return byIdentity;
    }
}
