package org.mdlagent.profiler.report.profile;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInput;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.mdlagent.profiler.report.codec.RecordFormatException;
import org.mdlagent.profiler.report.codec.Text;

/// A function's profile as bytes for the store: everything but its CPU time. Unknown values are -1, or NaN.
public final class FunctionCodec {
    private static final byte VERSION = 1;
    private static final int CALLS_EXACT = 1;
    private static final int EXACT = 2;

    private FunctionCodec() {}

    public static byte[] bytes(FunctionProfile function) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            write(function, new DataOutputStream(bytes));
        } catch (IOException e) {
            throw new AssertionError("an array takes all", e);
        }
        return bytes.toByteArray();
    }

    private static void write(FunctionProfile function, DataOutput out) throws IOException {
        out.writeByte(VERSION);
        Text.write(function.name(), out);
        Text.write(function.symbol(), out);
        Text.write(function.file() == null ? "" : function.file(), out);
        out.writeInt(function.line());
        Text.write(function.image(), out);
        out.writeLong(function.calls());
        out.writeByte((function.callsExact() ? CALLS_EXACT : 0) | (function.exact() ? EXACT : 0));
        out.writeDouble(function.callsError().orElse(Double.NaN));
        out.writeLong(function.sampled());
        out.writeLong(function.shownTotalNanos().orElse(-1));
        out.writeLong(function.shownSelfNanos().orElse(-1));
        function.latency().writeTo(out);
    }

    /// Reads what [#bytes] wrote.
    ///
    /// @throws RecordFormatException when it is anything else
    public static FunctionProfile read(byte[] bytes) throws IOException {
        ByteArrayInputStream rest = new ByteArrayInputStream(bytes);
        FunctionProfile function;
        try {
            function = read(new DataInputStream(rest));
        } catch (EOFException e) {
            throw new RecordFormatException("a record ends too early");
        }
        if (rest.available() > 0) {
            throw new RecordFormatException("a function's record has too many bytes");
        }
        return function;
    }

    private static FunctionProfile read(DataInput in) throws IOException {
        byte version = in.readByte();
        if (version != VERSION) {
            throw new RecordFormatException("a function's record is of version " + version + ", not " + VERSION);
        }
        String name = Text.read(in);
        String symbol = Text.read(in);
        String file = Text.read(in);
        int line = in.readInt();
        String image = Text.read(in);
        long calls = in.readLong();
        int flags = in.readUnsignedByte();
        double callsError = in.readDouble();
        long sampled = in.readLong();
        long total = in.readLong();
        long self = in.readLong();
        Latency latency = Latency.readFrom(in);
        if (calls < 0 || sampled < 0 || callsError < 0 || flags > (CALLS_EXACT | EXACT)) {
            throw new RecordFormatException("a function's record has impossible counts");
        }
        return new FunctionProfile(
                new FunctionProfile.Code(name, symbol, file.isEmpty() ? null : file, Math.max(0, line), image),
                new FunctionProfile.Calls(
                        calls,
                        (flags & CALLS_EXACT) != 0,
                        Double.isFinite(callsError) ? OptionalDouble.of(callsError) : OptionalDouble.empty()),
                new FunctionProfile.Timed((flags & EXACT) != 0, sampled, latency),
                FunctionProfile.Times.of(known(total), known(self)),
                true);
    }

    private static OptionalLong known(long nanos) {
        return nanos < 0 ? OptionalLong.empty() : OptionalLong.of(nanos);
    }
}
