package org.mdlagent.fastinst.install;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.IntPredicate;
import org.mdlagent.arch.layout.FunctionDescriptor;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.session.FunctionRecord;
import org.mdlagent.arch.session.FunctionRecordWriter;
import org.mdlagent.arch.session.FunctionRecords;
import org.mdlagent.arch.session.ThreadBlock;
import org.mdlagent.arch.session.ThreadBlockWriter;
import org.mdlagent.arch.session.ThreadBlocks;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.SiteKind;

/// The session's table of functions: assigns records, writes them, and keeps each function's sites.
///
/// Indices are assigned before the table is allocated, so that its minimum size is known.
public final class FunctionTable {
    private final SessionTables tables;
    private final FunctionRecords records;
    private final long header;
    private final List<ProbedFunction> functions = new ArrayList<>();

    private long unknown;
    private long excluded;

    public FunctionTable(SessionTables tables, long header) {
        this.tables = tables;
        this.header = header;
        records = new FunctionRecords(header);
    }

    /// Allocates the table, with room for all assigned indices and `more`.
    void allocate(int more) {
        long unused = tables.allocateFunctions(functions.size() + more);
        unknown = tables.allocate(FunctionDescriptor.SIZE);
        Memory.putLong(header + HeaderDescriptor.UNKNOWN_FUNCTION, unknown);
        excluded = tables.allocate(FunctionDescriptor.SIZE);
    }

    /// Record of sites whose function the code does not show: its address is 0, so that the first call asks
    /// the shim.
    long unknown() {
        return unknown;
    }

    /// Record of sites that the filter excludes: they stay off.
    public long excluded() {
        return excluded;
    }

    public int count() {
        return functions.size();
    }

    /// @return the function's index
    int add(ProbedFunction function) {
        functions.add(function);
        return functions.size() - 1;
    }

    /// Releases the indices from `first` on.
    void release(int first) {
        functions.subList(first, functions.size()).clear();
    }

    /// Whether there is a record for each index.
    boolean hasRoom() {
        return functions.size() <= records.capacity();
    }

    /// Publishes the records of all indices to readers.
    void publish() {
        Memory.putIntRelease(header + HeaderDescriptor.FUNCTION_COUNT, functions.size());
    }

    /// Adds a function of a library without probes.
    ///
    /// @param address called by the program
    /// @return address of its record
    /// @throws IllegalStateException when the session is full
    public long addImported(String symbol, String image, long address) {
        if (functions.size() == records.capacity()) {
            throw new IllegalStateException("the session has no room for another function");
        }
        int name = tables.string(symbol);
        int index = add(new ProbedFunction(new ProbedImage(image, "", ""), 0, name, name, Tier.SLICED, true));
        FunctionRecordWriter record = records.writer(index);
        record.setIndex(index);
        record.addFlags(FunctionDescriptor.FLAG_IMPORTED | FunctionDescriptor.FLAG_OFF);
        record.setName(name);
        record.setSymbol(name);
        record.setImage(tables.string(image));
        record.setCodeRelease(address);
        publish();
        return record.address();
    }

    /// Address of the record of function `index`.
    public long address(int index) {
        return records.address(index);
    }

    public FunctionRecord get(int index) {
        return records.get(index);
    }

    ProbedFunction function(int index) {
        return functions.get(index);
    }

    /// Path of the image that a function belongs to.
    public String image(int index) {
        return functions.get(index).image.path();
    }

    /// A function's demangled name.
    public String name(int index) {
        return tables.text(functions.get(index).name);
    }

    /// Whether the user named the tier of a function.
    public boolean isTierNamed(int index) {
        return functions.get(index).named;
    }

    /// Indices of the functions' entry sites.
    public List<Integer> entries(List<Integer> indices) {
        return sites(indices, ProbedFunction::entries);
    }

    /// Indices of the functions' exit sites; that of a whole function is none.
    public List<Integer> exits(List<Integer> indices) {
        return sites(indices, ProbedFunction::exits);
    }

    private List<Integer> sites(List<Integer> indices, Function<ProbedFunction, int[]> kind) {
        List<Integer> sites = new ArrayList<>(indices.size());
        for (int index : indices) {
            for (int site : kind.apply(functions.get(index))) {
                sites.add(site);
            }
        }
        return sites;
    }

    /// Indices of the probed functions that `wanted` includes, except those of closed images.
    public List<Integer> matching(ProbeFilter wanted) {
        List<Integer> found = new ArrayList<>();
        for (int i = 0; i < functions.size(); i++) {
            ProbedFunction function = functions.get(i);
            String file = wanted.needsFiles() ? tables.text(get(i).fileAcquire()) : "";
            if (function.image.current() != null && wanted.includes(function.image.path(), file, name(i))) {
                found.add(i);
            }
        }
        return found;
    }

    /// Excludes a function from recording, or includes it. Its probes are not switched.
    public void leaveOut(int index, boolean out) {
        if (out) {
            records.writer(index).addFlags(FunctionDescriptor.FLAG_OFF);
        } else {
            records.writer(index).removeFlags(FunctionDescriptor.FLAG_OFF);
        }
    }

    /// Changes which calls of a function are timed, also for threads that run it now.
    ///
    /// @param weight calls that a timed one stands for, if calls are timed by chance
    public void setTier(int index, Tier tier, int weight) {
        FunctionRecordWriter record = records.writer(index);
        if (!tier.equals(Tier.EXACT)) {
            record.removeFlags(FunctionDescriptor.FLAG_EVERY_CALL);
        }
        record.setMeanRelease(tier.mean(), weight);
        for (ThreadBlock thread : new ThreadBlocks(header)) {
            new ThreadBlockWriter(thread.address()).forgetCountdown(index);
        }
    }

    /// Writes a function's record, or what has changed while its image was closed.
    void describe(int index) {
        ProbedFunction function = functions.get(index);
        FunctionRecordWriter record = records.writer(index);
        long address = Objects.requireNonNull(function.image.current()).bias() + function.offset;
        boolean isNew = get(index).isNew();
        record.setIndex(index);
        record.setName(function.name);
        record.setSymbol(function.symbol);
        record.setImage(tables.string(function.image.path()));
        record.setBuild(tables.string(function.image.build()));
        if (isNew) {
            record.addFlags(function.first.equals(Tier.EXACT) ? FunctionDescriptor.FLAG_EVERY_CALL : 0);
            record.setMeanRelease(function.first.mean(), function.first.mean());
        }
        record.setCodeSize((int) function.image.ranges().length(function.offset));
        record.setCodeRelease(address);
        tables.addLookup(address, record.address());
    }

    void setSource(int index, String file, int line) {
        records.writer(index).setSourceRelease(tables.string(file), line);
    }

    /// Marks a function as closed with its image.
    void close(int index) {
        long address = get(index).code();
        records.writer(index).setCodeRelease(0);
        tables.removeLookup(address, records.address(index), excluded);
        publishSites(index);
    }

    /// Adds a site to a function, for [#writeSites].
    void addSite(int index, int site, SiteKind kind) {
        functions.get(index).add(site, kind);
        if (kind == SiteKind.COUNT) {
            records.writer(index).addFlags(FunctionDescriptor.FLAG_COUNTED);
        }
    }

    /// Removes sites from a function.
    ///
    /// @return whether it had any of them
    boolean removeSites(int index, IntPredicate gone) {
        return functions.get(index).remove(gone);
    }

    /// Writes the list of a function's sites, exits first.
    void writeSites(int index) {
        ProbedFunction function = functions.get(index);
        long list = tables.allocateIndices(function.exits().length + function.entries().length);
        records.writer(index).setSiteList(list);
        for (int site : function.exits()) {
            Memory.putInt(list, site);
            list += Integer.BYTES;
        }
        for (int site : function.entries()) {
            Memory.putInt(list, site);
            list += Integer.BYTES;
        }
        publishSites(index);
    }

    /// A function's list is empty while its image is closed.
    void publishSites(int index) {
        ProbedFunction function = functions.get(index);
        boolean open = function.image.current() != null;
        records.writer(index).setSites(open ? function.exits().length : 0, open ? function.entries().length : 0);
    }
}
