package org.mdlagent.fastinst.install;

import java.util.ArrayList;
import java.util.List;
import org.mdlagent.arch.code.CodeMemory;
import org.mdlagent.arch.code.PatchPlan;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.JumpDescriptor;
import org.mdlagent.arch.session.SiteRecord;
import org.mdlagent.arch.session.SiteRecordWriter;
import org.mdlagent.arch.session.SiteRecords;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.EntryPun;
import org.mdlagent.arch.site.SiteKind;

/// The session's table of sites: assigns records and writes them.
///
/// An instruction takes [SiteKind#records] consecutive records; its index is that of the first. Indices are
/// assigned before the table is allocated, so that its minimum size is known.
public final class SiteTable {
    private final SessionTables tables;
    private final CodeMemory code;
    private final SiteRecords records;
    private final long header;
    private int count;

    public SiteTable(SessionTables tables, CodeMemory code, long header) {
        this.tables = tables;
        this.code = code;
        this.header = header;
        records = new SiteRecords(header);
    }

    /// Allocates the table, with room for all assigned indices and `more`.
    void allocate(int more) {
        long unused = tables.allocateSites(count + more);
    }

    public int count() {
        return count;
    }

    /// Assigns indices.
    ///
    /// @return the first
    int reserve(int sites) {
        int first = count;
        count += sites;
        return first;
    }

    /// Releases the indices from `first` on.
    void release(int first) {
        count = first;
    }

    /// Whether there is a record for each index.
    boolean hasRoom() {
        return count <= records.capacity();
    }

    /// Publishes the records of all indices to readers.
    void publish() {
        Memory.putIntRelease(header + HeaderDescriptor.SITE_COUNT, count);
    }

    /// Adds records, which belong to `function` until they are assigned.
    ///
    /// @return index of the first
    /// @throws IllegalStateException when the session is full
    public int add(int sites, long function) {
        if (count + sites > records.capacity()) {
            throw new IllegalStateException("the session has no room for " + sites + " more sites");
        }
        int first = reserve(sites);
        for (int i = first; i < count; i++) {
            records.writer(i).setFunction(function);
        }
        publish();
        return first;
    }

    public SiteRecord get(int index) {
        return records.get(index);
    }

    /// The indices, and those of the returns of whole functions.
    List<Integer> withReturns(List<Integer> sites) {
        List<Integer> all = new ArrayList<>();
        for (int site : sites) {
            int end = site + get(site).kind().records();
            for (int i = site; i < end; i++) {
                all.add(i);
            }
        }
        return all;
    }

    /// Writes a site's data and how it is toggled.
    public void describe(int index, Trampolines.Site site) {
        SiteKind kind = SiteKind.of(site.hook());
        for (int i = 0; i < kind.records(); i++) {
            SiteRecordWriter record = records.writer(index + i);
            record.setToggle(code.alias(site.plan().toggleAt()), site.plan());
            record.setKind(kind.ofRecord(i));
            record.setIndex(index + i);
            record.setCode(site.hook().address());
            record.setStub(site.stub());
        }
    }

    /// Writes the records of a site that is not published yet: everything but what opens it to clients.
    ///
    /// @param image    offset in the session of the path of its image
    /// @param function record of the function it belongs to
    /// @param owner    record of the function that contains it, 0 when unknown
    void create(int index, Trampolines.Site site, int image, long function, long owner) {
        SiteKind kind = SiteKind.of(site.hook());
        long alias = code.alias(site.plan().toggleAt());
        for (int i = 0; i < kind.records(); i++) {
            records.writer(index + i)
                    .create(
                            index + i,
                            kind.ofRecord(i),
                            alias,
                            site.plan(),
                            site.hook().address(),
                            site.stub(),
                            image,
                            function,
                            owner);
        }
    }

    /// Registers a site's jump for installation and removal in steps.
    ///
    /// @param shown whether it is in the text now
    /// @throws IllegalStateException when the session has no room
    void takeSteps(int index, PatchPlan jump, EntryPun.Cut cut, boolean shown) {
        long known = records.get(index).steps();
        long record = known == 0 ? tables.allocate(JumpDescriptor.SIZE) : known;
        Memory.putLong(record + JumpDescriptor.AT, code.alias(jump.toggleAt()));
        Memory.putLong(record + JumpDescriptor.ON, jump.on());
        Memory.putLong(record + JumpDescriptor.OFF, jump.off());
        Memory.putByte(record + JumpDescriptor.FRONT, (byte) cut.front());
        Memory.putByte(record + JumpDescriptor.HEAD, (byte) cut.head());
        Memory.putByte(record + JumpDescriptor.SHOWN, (byte) (shown ? 1 : 0));
        Memory.putByte(record + JumpDescriptor.HELD, (byte) 0);
        records.writer(index).setSteps(record);
    }

    /// Writes a site's image and the function that contains it.
    ///
    /// @param owner record of the function that contains it, 0 when unknown
    void locate(int index, SiteKind kind, String image, long owner) {
        for (int i = index; i < index + kind.records(); i++) {
            records.writer(i).setImage(tables.string(image));
            if (records.get(i).steps() == 0) {
                records.writer(i).setOwner(owner);
            }
        }
    }

    /// Assigns a site to a function.
    void assign(int index, SiteKind kind, long function) {
        for (int i = index; i < index + kind.records(); i++) {
            records.writer(i).setFunction(function);
        }
    }

    /// Assigns a site made by [#add] to an imported function, and opens it.
    ///
    /// @param image that contains the function
    public void assignImported(int index, String image, long function, StubBodies bodies) {
        SiteKind kind = get(index).kind();
        for (int i = index; i < index + kind.records(); i++) {
            records.writer(i).setImage(tables.string(image));
        }
        assign(index, kind, function);
        open(index, kind, bodies);
    }

    /// Opens a site to clients.
    void open(int index, SiteKind kind, StubBodies bodies) {
        for (int i = kind.records() - 1; i >= 0; i--) {
            bodies.open(records.writer(index + i), kind.ofRecord(i).body());
        }
    }
}
