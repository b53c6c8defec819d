package org.mdlagent.stress.torture;

import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import org.mdlagent.arch.cpu.CoreSync;
import org.mdlagent.arch.layout.HeaderDescriptor;
import org.mdlagent.arch.layout.JumpDescriptor;
import org.mdlagent.arch.layout.SiteDescriptor;
import org.mdlagent.arch.shim.CodeWriter;
import org.mdlagent.arch.shim.Memory;
import org.mdlagent.arch.shim.NativeApi;
import org.mdlagent.stress.torture.Cell.Interference;
import org.mdlagent.stress.torture.Cell.Mode;
import org.mdlagent.stress.torture.Cell.Sync;
import org.mdlagent.wordpatch.TrapMode;

/// The real protocols, each broken at one place. The torture must detect it within seconds, by a wrong execution
/// or a stall; otherwise its success for the real protocols proves nothing.
enum Twin implements Breakage {
    /// All syncs, but no trapping byte.
    NO_TRAPPING_BYTE(Kind.LEA_8) {
        @Override
        public CodeWriter writer(Laboratory laboratory) {
            return new WithoutTrap(laboratory.api());
        }
    },
    /// Tail and front by successive stores.
    TWO_STORES(Kind.LEA_8) {
        @Override
        public CodeWriter writer(Laboratory laboratory) {
            return new WithoutTrap(laboratory.api());
        }

        @Override
        public CoreSync sync(CoreSync sync) {
            return new CoreSync() {
                @Override
                public long ticket() {
                    return 0;
                }

                @Override
                public boolean isPast(long ticket) {
                    return true;
                }

                @Override
                public void await(long ticket) {}
            };
        }
    },
    /// The trapping byte is stored, but the handler finds no row for it.
    UNPUBLISHED_ROW(Kind.CALL_NOP) {
        @Override
        public CodeWriter writer(Laboratory laboratory) {
            return new WithoutTable(laboratory.api());
        }
    },
    /// The paper's handler: threads wait for the stopped patcher. Proves that stalls are detected.
    SPINNING_HANDLER(Kind.CALL_NOP) {
        @Override
        public TrapMode trapMode() {
            return TrapMode.SPIN;
        }

        @Override
        Cell cell() {
            return new Cell(Kind.CALL_NOP, 8, Sync.TMAX, Mode.PATCH, 1, true, 1, Interference.STOPPED, 1, false);
        }
    },
    /// A jump over several instructions that ignores threads at the second.
    HEAD_DOES_NOTHING(Kind.PUN_2) {
        @Override
        public int displacement(int kind) {
            return 0x909090CC;
        }
    },
    /// Invalid only on old processors: `vzeroupper`, since AVX.
    HEAD_IS_VEX(Kind.PUN_1) {
        @Override
        public int displacement(int kind) {
            return 0xCC77F8C5;
        }
    },
    /// A prefix, which executes what follows, among the trapping bytes with upward targets.
    HEAD_IS_A_PREFIX(Kind.PUN_4_UP) {
        @Override
        public int displacement(int kind) {
            return kind & 0xFFFFFF | 0x64000000;
        }
    },
    /// A line ends within where the gate leads.
    GATE_STRADDLES(Kind.PUN_2_4_HELD) {
        @Override
        public int gateOffset() {
            return -2;
        }

        /// What the processor makes of the store when another one fetches meanwhile.
        @Override
        public Toggle toggle(Laboratory laboratory) {
            return inTwoStores(laboratory, 1);
        }
    },
    /// A jump that comes and goes with all waits, but no trapping byte.
    STEPS_WITHOUT_TRAP(Kind.PUN_2_4_CUT) {
        @Override
        public Toggle toggle(Laboratory laboratory) {
            return withoutTrap(laboratory);
        }
    },
    /// The same in a process that is attached to.
    ATTACHED_STEPS_WITHOUT_TRAP(Kind.PUN_2_4_CUT) {
        @Override
        public Toggle toggle(Laboratory laboratory) {
            return withoutTrap(laboratory);
        }

        @Override
        Cell cell() {
            return attached();
        }
    },
    /// The file's text goes before the copy comes.
    ATTACH_WITH_A_GAP(Kind.PUN_2_4) {
        @Override
        public void attach(FileText text) {
            text.unmap();
            LockSupport.parkNanos(TORN_NANOS);
            text.attach();
        }

        @Override
        Cell cell() {
            return attached();
        }
    },
    /// A thread that traps at the entry meanwhile is not known.
    STEPS_WITHOUT_ROW(Kind.PUN_1_CUT) {
        @Override
        public boolean isEntryPublished() {
            return false;
        }
    },
    /// Five bytes by two stores.
    TORN_JUMP(Kind.PUN_2_4) {
        @Override
        public Toggle toggle(Laboratory laboratory) {
            return inTwoStores(laboratory, Integer.BYTES);
        }
    };

    static final long NANOS_MAX = 10_000_000_000L;
    private static final long TORN_NANOS = 1_000_000;
    private static final int INT3 = 0xCC;

    private final Kind kind;

    Twin(Kind kind) {
        this.kind = kind;
    }

    String label() {
        return "twin/" + name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /// The cell that must detect it.
    Cell cell() {
        Mode mode = kind.isPun() ? Mode.TOGGLE : Mode.PATCH;
        return new Cell(kind, 8, Sync.TMAX, mode, 1, true, 1, Interference.NONE, 1, false);
    }

    final Cell attached() {
        return new Cell(kind, 8, Sync.TMAX, Mode.ATTACH, 1, true, 1, Interference.NONE, 1, false);
    }

    /// Installs and removes jumps in steps, without the trapping byte.
    private static Toggle withoutTrap(Laboratory laboratory) {
        long sites = Memory.getLong(laboratory.api().session() + HeaderDescriptor.SITES);
        return (indices, count, on) -> {
            for (int i = 0; i < count; i++) {
                long site = sites + Memory.getInt(indices + (long) i * Integer.BYTES) * SiteDescriptor.SIZE;
                long jump = Memory.getLong(site + SiteDescriptor.OWNER);
                long at = Memory.getLong(jump + JumpDescriptor.AT);
                long word = Memory.getLong(jump + (on ? JumpDescriptor.ON : JumpDescriptor.OFF));
                int front = Memory.getByte(jump + JumpDescriptor.FRONT);
                int rest = (PunInstaller.JUMP - front) * Byte.SIZE;
                long frontMask = -1L >>> Long.SIZE - front * Byte.SIZE;
                int shift = Long.SIZE - front * Byte.SIZE;
                laboratory.api().syncCores();
                laboratory.api().replace(at + front, (1L << rest) - 1, word >>> front * Byte.SIZE);
                laboratory.api().syncCores();
                laboratory.api().replace(at + front - Long.BYTES, frontMask << shift, (word & frontMask) << shift);
            }
        };
    }

    /// Stores the first bytes of what sites are to hold, and the others so late that an executor meets the mixture.
    private static Toggle inTwoStores(Laboratory laboratory, int first) {
        Toggle whole = NONE.toggle(laboratory);
        long sites = Memory.getLong(laboratory.api().session() + HeaderDescriptor.SITES);
        return (indices, count, on) -> {
            for (int i = 0; i < count; i++) {
                long site = sites + Memory.getInt(indices + (long) i * Integer.BYTES) * SiteDescriptor.SIZE;
                long value = Memory.getLong(site + (on ? SiteDescriptor.ON : SiteDescriptor.OFF));
                laboratory.api().store(Memory.getLong(site + SiteDescriptor.STORE), value, first);
            }
            LockSupport.parkNanos(TORN_NANOS);
            whole.toggle(indices, count, on);
        };
    }

    /// Keeps the trapping byte back.
    private record WithoutTrap(NativeApi api) implements CodeWriter {
        @Override
        public void store(long alias, long value, int size) {
            if (!isTrap(value, size)) {
                api.store(alias, value, size);
            }
        }

        @Override
        public void replace(long alias, long mask, long value) {
            api.replace(alias, mask, value);
        }
    }

    /// Hides the table from the handler while a trapping byte is in place.
    private static final class WithoutTable implements CodeWriter {
        private final NativeApi api;
        private final long field;
        private long table;

        WithoutTable(NativeApi api) {
            this.api = api;
            field = api.session() + HeaderDescriptor.TRAPS;
        }

        @Override
        public void store(long alias, long value, int size) {
            if (isTrap(value, size)) {
                table = Memory.getLong(field);
                Memory.putLongRelease(field, 0);
            }
            api.store(alias, value, size);
        }

        @Override
        public void replace(long alias, long mask, long value) {
            if (table != 0) {
                Memory.putLongRelease(field, table);
            }
            api.replace(alias, mask, value);
        }
    }

    private static boolean isTrap(long value, int size) {
        return size == 1 && (value & 0xFF) == INT3;
    }
}
