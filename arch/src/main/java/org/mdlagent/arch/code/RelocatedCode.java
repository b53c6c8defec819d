package org.mdlagent.arch.code;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/// Code with the effect of instructions at another address.
///
/// @param bytes  the code
/// @param starts of each byte of the instructions the offset of the code that stands for the instruction which
///     begins there; -1 where none begins
/// @param jump   where all of it is the same wherever it stands, but for a jump behind which the instructions go on:
///     the offset of the 32-bit displacement, with which the code ends; else -1
public record RelocatedCode(byte[] bytes, int[] starts, int jump) {
    /// Whether [#moved] can move the code.
    public boolean isMovable() {
        return jump >= 0;
    }

    /// The same code, `distance` bytes higher.
    ///
    /// @throws IllegalArgumentException if the code must be generated anew, or its jump does not reach
    public RelocatedCode moved(long distance) {
        if (!isMovable()) {
            throw new IllegalArgumentException("code that depends on where it stands");
        }
        byte[] copy = Arrays.copyOf(bytes, bytes.length);
        ByteBuffer code = ByteBuffer.wrap(copy).order(ByteOrder.LITTLE_ENDIAN);
        long displacement = code.getInt(jump) - distance;
        if (displacement != (int) displacement) {
            throw new IllegalArgumentException("out of reach: a jump that leads " + displacement + " bytes further");
        }
        code.putInt(jump, (int) displacement);
        return new RelocatedCode(copy, starts, jump);
    }
}
