package org.mdlagent.profiler.report.session;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.profiler.report.file.FunctionBytes;
import org.mdlagent.profiler.report.file.SessionBytes;
import org.mdlagent.profiler.report.profile.SiteProfile;

/// Reads the sites that a session knows.
final class SiteReader {
    private final SessionBytes bytes;

    SiteReader(SessionBytes bytes) {
        this.bytes = bytes;
    }

    List<SiteProfile> read() throws IOException {
        List<SiteProfile> sites = new ArrayList<>();
        for (long at : places(bytes)) {
            sites.add(site(at));
        }
        return sites;
    }

    /// Offsets of the sites in the session.
    static long[] places(SessionBytes bytes) throws IOException {
        int count = bytes.count(HeaderDescriptor.SITE_COUNT, HeaderDescriptor.SITE_CAPACITY, "sites");
        if (count == 0) {
            return new long[0];
        }
        long table =
                bytes.offset(bytes.getLong(HeaderDescriptor.SITES), count * SiteDescriptor.SIZE, "the table of sites");
        bytes.claim(count * SiteDescriptor.SIZE);
        return LongStream.range(0, count)
                .map(i -> table + i * SiteDescriptor.SIZE)
                .toArray();
    }

    private SiteProfile site(long at) throws IOException {
        long function = bytes.getLong(at + SiteDescriptor.FUNCTION);
        String name = function == 0 ? "" : FunctionBytes.of(bytes, function).name();
        return new SiteProfile(
                name,
                kind(at),
                bytes.string(bytes.getInt(at + SiteDescriptor.IMAGE)),
                bytes.getLong(at + SiteDescriptor.ADDRESS));
    }

    private SiteProfile.Kind kind(long at) throws IOException {
        int shift = Byte.SIZE * (int) (SiteDescriptor.KIND - SiteDescriptor.SIZE_AT);
        int kind = bytes.getInt(at + SiteDescriptor.SIZE_AT) >>> shift & 0xff;
        return switch (kind) {
            case SiteDescriptor.KIND_ENTRY -> SiteProfile.Kind.ENTRY;
            case SiteDescriptor.KIND_EXIT -> SiteProfile.Kind.EXIT;
            case SiteDescriptor.KIND_SIBLING_EXIT -> SiteProfile.Kind.SIBLING_EXIT;
            case SiteDescriptor.KIND_WHOLE -> SiteProfile.Kind.WHOLE;
            case SiteDescriptor.KIND_RETURN -> SiteProfile.Kind.RETURN;
            case SiteDescriptor.KIND_COUNT -> SiteProfile.Kind.COUNT;
            default -> throw bytes.damaged("a site has the unknown kind " + kind);
        };
    }
}
