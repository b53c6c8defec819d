package org.mdlagent.runtime.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.regex.Pattern;
import org.mdlagent.profiler.report.codec.RecordFormatException;

/// The header of a map's file: text that names the classes that the library instantiates, whatever they are. So
/// the library only gets a file whose header equals that of our maps, except for numbers.
///
/// | offset | |
/// | --- | --- |
/// | 0 | eight bytes: a hash of the text |
/// | 8 | four bytes: the text's length, negative while the map is being made |
/// | 12 | the text |
final class MapHeader {
    private static final int LENGTH = 8;
    private static final int TEXT = 12;

    /// Maximum length of the header, with all numbers at full length.
    private static final int TEXT_MAX = 4096;

    private static final Pattern NUMBER = Pattern.compile("(?<=: )[0-9]+(?:\\.[0-9]+)?(?=,?\\n)");

    /// The text with `#` for each number.
    private static final String EXPECTED = """
            !net.openhft.chronicle.map.VanillaChronicleMap {
              dataFileVersion: "2026.1",
              keyClass: !type String,
              keySizeMarshaller: !net.openhft.chronicle.hash.serialization.impl.StopBitSizeMarshaller {
              },
              keyReader: !net.openhft.chronicle.hash.serialization.impl.StringSizedReader {
              },
              keyDataAccess: !net.openhft.chronicle.hash.serialization.impl.StringUtf8DataAccess {
              },
              checksumEntries: true,
              actualSegments: #,
              hashSplitting: !net.openhft.chronicle.hash.impl.HashSplitting$ForSingleSegment {
              },
              chunkSize: #,
              maxChunksPerEntry: #,
              actualChunksPerSegmentTier: #,
              segmentHeaderSize: #,
              tierHashLookupValueBits: #,
              tierHashLookupKeyBits: #,
              tierHashLookupSlotSize: #,
              tierHashLookupCapacity: #,
              maxEntriesPerHashLookup: #,
              tierHashLookupInnerSize: #,
              tierHashLookupOuterSize: #,
              tierFreeListInnerSize: #,
              tierFreeListOuterSize: #,
              tierEntrySpaceInnerSize: #,
              tierEntrySpaceInnerOffset: #,
              tierEntrySpaceOuterSize: #,
              tierSize: #,
              maxExtraTiers: #,
              tierBulkSizeInBytes: #,
              tierBulkInnerOffsetToTiers: #,
              tiersInBulk: #,
              log2TiersInBulk: #,
              skipCloseOnExitHook: false,
              valueClass: !type byte[],
              valueSizeMarshaller: !net.openhft.chronicle.hash.serialization.impl.StopBitSizeMarshaller {
              },
              valueReader: !net.openhft.chronicle.hash.serialization.impl.ByteArraySizedReader {
              },
              valueDataAccess: !net.openhft.chronicle.hash.serialization.impl.ByteArrayDataAccess {
              },
              constantlySizedEntry: false,
              alignment: #,
              worstAlignment: #,
              maxBloatFactor: #
            }
            """;

    private MapHeader() {}

    /// @throws RecordFormatException if a file does not have the header of our maps
    static void check(Path file) throws IOException {
        if (!NUMBER.matcher(text(file)).replaceAll("#").strip().equals(EXPECTED.strip())) {
            throw new RecordFormatException("it was written by another version of mdl, or by somebody else");
        }
    }

    private static String text(Path file) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(TEXT + TEXT_MAX).order(ByteOrder.LITTLE_ENDIAN);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
            while (bytes.hasRemaining() && channel.read(bytes, bytes.position()) > 0) {}
        }
        bytes.flip();
        int length = bytes.limit() < TEXT ? -1 : bytes.getInt(LENGTH);
        if (length < 0 || length > bytes.limit() - TEXT) {
            throw new RecordFormatException("its map is not complete");
        }
        return new String(bytes.array(), TEXT, length, StandardCharsets.ISO_8859_1);
    }
}
