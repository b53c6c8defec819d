package org.mdlagent.client;

import java.util.OptionalLong;

/// A function with a probe, and what was measured of it.
///
/// @param name       demangled
/// @param image      path of the ELF file
/// @param source     where it begins; file "" and line 0 if not known
/// @param on         whether its calls are recorded now
/// @param calls      number of calls: exact in measurements of counts, blocks and arcs; an estimate if latency is
///     sampled; in a measurement of coverage above 0 if it was called
/// @param totalNanos time in it and its callees, of all calls; empty unless latency is measured
/// @param p50Nanos   median duration of a call; empty unless calls were timed
/// @param p99Nanos   99th percentile
/// @param maxNanos   longest duration
public record Function(
        String name,
        String image,
        Line source,
        boolean on,
        long calls,
        OptionalLong totalNanos,
        OptionalLong p50Nanos,
        OptionalLong p99Nanos,
        OptionalLong maxNanos) {}
