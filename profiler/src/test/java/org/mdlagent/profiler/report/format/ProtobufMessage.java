package org.mdlagent.profiler.report.format;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// A decoded message: by the number of a field, its values in turn, each a Long, a Double or a byte[].
public record ProtobufMessage(Map<Integer, List<Object>> fields) {
    static ProtobufMessage of(byte[] bytes) {
        Map<Integer, List<Object>> fields = new TreeMap<>();
        ByteBuffer in = ByteBuffer.wrap(bytes);
        while (in.hasRemaining()) {
            long tag = varint(in);
            fields.computeIfAbsent((int) (tag >> 3), number -> new ArrayList<>())
                    .add(
                            switch ((int) tag & 7) {
                                case 0 -> (Object) varint(in);
                                case 1 -> in.order(ByteOrder.LITTLE_ENDIAN).getDouble();
                                case 2 -> {
                                    byte[] content = new byte[(int) varint(in)];
                                    in.get(content);
                                    yield content;
                                }
                                default -> throw new AssertionError("kind of field " + tag);
                            });
        }
        return new ProtobufMessage(fields);
    }

    /// Messages that stand behind their lengths.
    public static List<ProtobufMessage> delimited(byte[] bytes) {
        List<ProtobufMessage> messages = new ArrayList<>();
        ByteBuffer in = ByteBuffer.wrap(bytes);
        while (in.hasRemaining()) {
            byte[] message = new byte[(int) varint(in)];
            in.get(message);
            messages.add(of(message));
        }
        return messages;
    }

    private static long varint(ByteBuffer in) {
        long value = 0;
        for (int shift = 0; ; shift += 7) {
            byte next = in.get();
            value |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return value;
            }
        }
    }

    List<Object> all(int number) {
        return fields.getOrDefault(number, List.of());
    }

    public long integer(int number) {
        return all(number).isEmpty() ? 0 : (Long) all(number).getLast();
    }

    public double number(int number) {
        return (Double) all(number).getLast();
    }

    public List<ProtobufMessage> messages(int number) {
        return all(number).stream()
                .map(bytes -> ProtobufMessage.of((byte[]) bytes))
                .toList();
    }

    List<Long> integers(int number) {
        ByteBuffer packed = ByteBuffer.wrap((byte[]) all(number).getFirst());
        List<Long> integers = new ArrayList<>();
        while (packed.hasRemaining()) {
            integers.add(varint(packed));
        }
        return integers;
    }

    /// Those of a type as `sint64`.
    public List<Long> signed(int number) {
        return integers(number).stream().map(ProtobufMessage::signed).toList();
    }

    public static long signed(long zigzag) {
        return zigzag % 2 == 0 ? zigzag / 2 : -(zigzag / 2) - 1;
    }

    public List<String> strings(int number) {
        return all(number).stream()
                .map(bytes -> new String((byte[]) bytes, StandardCharsets.UTF_8))
                .toList();
    }
}
