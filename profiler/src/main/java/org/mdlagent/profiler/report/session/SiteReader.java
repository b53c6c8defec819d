package org.mdlagent.profiler.report.session;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.profiler.report.file.FunctionBytes;
import org.mdlagent.profiler.report.file.SessionBytes;
import org.mdlagent.profiler.report.profile.SiteProfile;

/// Reads the sites that a session knows.
final class SiteReader {
    private static final SiteProfile.Kind[] KINDS = SiteProfile.Kind.values();

    private final SessionBytes bytes;

    SiteReader(SessionBytes bytes) {
        this.bytes = bytes;
    }

    List<SiteProfile> read() throws IOException {
        int count = bytes.count(HeaderDescriptor.SITE_COUNT, HeaderDescriptor.SITE_CAPACITY, "sites");
        if (count == 0) {
            return List.of();
        }
        long table =
                bytes.offset(bytes.getLong(HeaderDescriptor.SITES), count * SiteDescriptor.SIZE, "the table of sites");
        bytes.claim(count * SiteDescriptor.SIZE);
        List<SiteProfile> sites = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            sites.add(site(table + i * SiteDescriptor.SIZE));
        }
        return sites;
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
        if (kind >= KINDS.length) {
            throw bytes.damaged("a site has the unknown kind " + kind);
        }
        return KINDS[kind];
    }
}
