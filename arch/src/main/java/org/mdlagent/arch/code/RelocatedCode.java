package org.mdlagent.arch.code;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/// Code with the effect of instructions at another address.
///
/// @param bytes  the code
/// @param starts for each byte of the original instructions, the offset of the copy of the instruction that begins
///     there; -1 if none begins there
/// @param jump   offset of the 32-bit displacement of the final jump back, if nothing else depends on the address
///     of the code; else -1
public record RelocatedCode(byte[] bytes, int[] starts, int jump) {
    /// Whether [#moved] can move the code.
    public boolean isMovable() {
        return jump >= 0;
    }

    /// The same code, `distance` bytes higher.
    ///
    /// @throws IllegalArgumentException if the code must be generated again, or its jump does not reach
    public RelocatedCode moved(long distance) {
        if (!isMovable()) {
            throw new IllegalArgumentException("this code depends on its address");
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
