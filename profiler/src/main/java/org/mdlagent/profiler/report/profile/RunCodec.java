package org.mdlagent.profiler.report.profile;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInput;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.mdlagent.profiler.report.codec.RecordFormatException;
import org.mdlagent.profiler.report.codec.Text;
import org.mdlagent.profiler.report.codec.Varint;

/// A run as bytes, without its functions, for the store.
public final class RunCodec {
    private static final byte VERSION = 3;

    /// Also has the number of calls timed in succession, which no run has any more.
    private static final byte SAMPLE_SIZE_VERSION = 2;

    /// As version 2, without the time measured.
    private static final byte UNMEASURED_VERSION = 1;

    private static final int IMAGES_MAX = 1 << 16;
    private static final int EXACT = 1;
    private static final int CPU_TIME = 2;

    private RunCodec() {}

    public static byte[] bytes(Run run) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            write(run, new DataOutputStream(bytes));
        } catch (IOException e) {
            throw new AssertionError("an array takes all", e);
        }
        return bytes.toByteArray();
    }

    private static void write(Run run, DataOutput out) throws IOException {
        out.writeByte(VERSION);
        Text.write(run.id(), out);
        Text.write(run.program(), out);
        Instant started = run.started();
        out.writeLong(started.getEpochSecond());
        out.writeInt(started.getNano());
        out.writeLong(run.elapsedNanos().orElse(-1));
        out.writeLong(run.measuredNanos().orElse(-1));
        out.writeByte((run.exact() ? EXACT : 0) | (run.cpuTime() ? CPU_TIME : 0));
        Varint.write(run.builds().size(), out);
        for (Map.Entry<String, String> build : new TreeMap<>(run.builds()).entrySet()) {
            Text.write(build.getKey(), out);
            Text.write(build.getValue(), out);
        }
    }

    /// Reads what [#bytes] wrote.
    ///
    /// @throws RecordFormatException when it is anything else
    public static Run read(byte[] bytes) throws IOException {
        ByteArrayInputStream rest = new ByteArrayInputStream(bytes);
        Run run;
        try {
            run = read(new DataInputStream(rest));
        } catch (EOFException e) {
            throw new RecordFormatException("a record ends too early");
        }
        if (rest.available() > 0) {
            throw new RecordFormatException("a run's record has too many bytes");
        }
        return run;
    }

    private static OptionalLong known(long nanos) {
        return nanos < 0 ? OptionalLong.empty() : OptionalLong.of(nanos);
    }

    private static Run read(DataInput in) throws IOException {
        byte version = in.readByte();
        if (version < UNMEASURED_VERSION || version > VERSION) {
            throw new RecordFormatException("a run's record is of version " + version + ", not " + VERSION);
        }
        String id = Text.read(in);
        String program = Text.read(in);
        long second = in.readLong();
        int nano = in.readInt();
        long elapsed = in.readLong();
        long measured = version == UNMEASURED_VERSION ? elapsed : in.readLong();
        int flags = in.readUnsignedByte();
        if (version <= SAMPLE_SIZE_VERSION) {
            in.readInt();
        }
        long images = Varint.read(in);
        boolean plausible =
                second >= 0 && second <= Integer.toUnsignedLong(-1) && nano >= 0 && flags <= (EXACT | CPU_TIME);
        if (!plausible || images > IMAGES_MAX) {
            throw new RecordFormatException("a run's record has impossible numbers");
        }
        Map<String, String> builds = new HashMap<>();
        for (long i = 0; i < images; i++) {
            builds.put(Text.read(in), Text.read(in));
        }
        return new Run(
                id,
                program,
                Instant.ofEpochSecond(second, nano),
                known(elapsed),
                known(measured),
                (flags & EXACT) != 0,
                (flags & CPU_TIME) != 0,
                builds);
    }
}
