package org.mdlagent.fastinst.install;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import org.mdlagent.arch.InstructionSet;
import org.mdlagent.arch.layout.BodiesDescriptor;
import org.mdlagent.arch.session.SiteRecordWriter;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.site.Body;
import org.mdlagent.arch.site.RecordingCode;
import org.mdlagent.arch.site.RecordingCode.ClientBodies;

/// The targets of a text's stubs: recording code, until a client is attached. The shim then changes the
/// target by the tables written here, because it has no Java on its thread.
public final class StubBodies {
    private final RecordingCode code;
    private final long base;
    private final Map<Body, Integer> tables = new EnumMap<>(Body.class);

    /// @param base  address of the recording code
    /// @param alias of that address
    /// @param toCounter offset from the stub of a whole function to its counter, 0 if there are none
    public StubBodies(
            InstructionSet instructions,
            RecordingCode code,
            long base,
            long alias,
            int toCounter,
            SessionTables session) {
        this.code = code;
        this.base = base;
        for (Map.Entry<Body, ClientBodies> clients : code.clients().entrySet()) {
            Body body = clients.getKey();
            long table = session.allocate(BodiesDescriptor.SIZE);
            Memory.putLong(table + BodiesDescriptor.ALIAS, alias - base);
            Memory.putLong(
                    table + BodiesDescriptor.DISPLACEMENT, instructions.stubs().displacementAt(body));
            Memory.putLong(table + BodiesDescriptor.RECORD, record(body));
            Memory.putLong(
                    table + BodiesDescriptor.CLIENT, base + clients.getValue().call());
            Memory.putLong(
                    table + BodiesDescriptor.COUNT, base + clients.getValue().count());
            Memory.putLong(
                    table + BodiesDescriptor.SNIPPETS, base + clients.getValue().snippets());
            Memory.putLong(
                    table + BodiesDescriptor.RESUME, base + clients.getValue().resume());
            if (body == Body.FUNCTION_ENTRY && toCounter != 0) {
                Memory.putLong(
                        table + BodiesDescriptor.COUNTER, instructions.stubs().counterHead(toCounter));
            }
            tables.put(body, session.offset(table));
        }
    }

    /// Address of the recording code.
    public long record(Body body) {
        return base + code.record(body);
    }

    /// Opens a site to clients and snippets.
    ///
    /// @param site its record
    public void open(SiteRecordWriter site, Body body) {
        site.setSnippets(base + clients(body).resume());
        site.setBodiesRelease(tables.getOrDefault(body, 0));
    }

    private ClientBodies clients(Body body) {
        return Objects.requireNonNull(code.clients().get(body));
    }
}
