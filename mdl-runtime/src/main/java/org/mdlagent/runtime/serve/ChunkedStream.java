package org.mdlagent.runtime.serve;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/// A chunked body of unknown length (RFC 9112, 7.1). Closing it leaves the underlying stream open.
final class ChunkedStream extends OutputStream {
    private static final byte[] LAST = "0\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] LINE_END = "\r\n".getBytes(StandardCharsets.US_ASCII);

    private final OutputStream out;
    private final byte[] chunk = new byte[8192];
    private int length;

    ChunkedStream(OutputStream out) {
        this.out = out;
    }

    @Override
    public void write(int value) throws IOException {
        if (length == chunk.length) {
            flushChunk();
        }
        chunk[length++] = (byte) value;
    }

    @Override
    public void write(byte[] bytes, int offset, int count) throws IOException {
        for (int done = 0; done < count; ) {
            if (length == chunk.length) {
                flushChunk();
            }
            int some = Math.min(count - done, chunk.length - length);
            System.arraycopy(bytes, offset + done, chunk, length, some);
            length += some;
            done += some;
        }
    }

    private void flushChunk() throws IOException {
        if (length > 0) {
            out.write((Integer.toHexString(length) + "\r\n").getBytes(StandardCharsets.US_ASCII));
            out.write(chunk, 0, length);
            out.write(LINE_END);
            length = 0;
        }
    }

    /// Ends the body. Call it only if the body is complete, so that clients can detect truncation.
    void end() throws IOException {
        flushChunk();
        out.write(LAST);
    }
}
