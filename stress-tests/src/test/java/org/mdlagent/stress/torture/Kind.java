package org.mdlagent.stress.torture;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.mdlagent.arch.site.SiteInstruction;

/// Instructions at a site. Words are chosen so that a mixture of old and new returns a third value or does not
/// decode.
enum Kind {
    EXCHANGE_1("90", "91", 0, 1),
    MOVE_2("b111", "b522", 0x11, 0x2200),
    INCREMENT_3("0f1f00", "48ffc1", 0, 1),
    MOVE_4("66b91111", "66b92222", 0x1111, 0x2222),
    MOVE_5("b911111111", "b922222222", 0x11111111L, 0x22222222L),
    ADD_6("81c111111111", "81c122222222", 0x11111111L, 0x22222222L),
    LEA_7 {
        @Override
        Subject subject(long address, Targets targets) {
            // lea d(%rip),%rcx
            byte[] first = Subject.relative("488d0d", 0x11111111);
            long next = address + first.length;
            long[] values = {next + 0x11111111L, next + 0x22222222L};
            return Subject.ofWord(first, Subject.relative("488d0d", 0x22222222), values);
        }
    },
    LEA_8("488d0c2511111111", "488d0c2522222222", 0x11111111L, 0x22222222L), // lea abs32,%rcx
    CALL_NOP {
        @Override
        Subject subject(long address, Targets targets) {
            byte[] nop = Subject.bytes("0f1f440000");
            return Subject.ofWord(Subject.transfer("e8", address, targets.original()), nop, Targets.ORIGINAL, 0);
        }
    },
    CALL_CALL {
        @Override
        Subject subject(long address, Targets targets) {
            return Subject.ofWord(
                    Subject.transfer("e8", address, targets.original()),
                    Subject.transfer("e8", address, targets.other()),
                    Targets.ORIGINAL,
                    Targets.OTHER);
        }
    },
    /// Two instructions of one word: a thread between them meets either version of the second.
    PAIR_7("b111" + "ba11111111", "b122" + "ba22222222", Kind.mixed(0x11, 0x22, 0x11111111, 0x22222222)),
    PAIR_8("66b91111" + "66ba1111", "66b92222" + "66ba2222", Kind.mixed(0x1111, 0x2222, 0x1111, 0x2222)),
    /// Two adjacent sites, each with its own patcher if there are several.
    NEIGHBOURS {
        @Override
        Subject subject(long address, Targets targets) {
            return new Subject(
                    Subject.bytes("b911111111" + "ba11111111"),
                    mixed(0x11111111, 0x22222222, 0x11111111, 0x22222222),
                    List.of(
                            Subject.change(0, "b911111111", "b922222222"),
                            Subject.change(5, "ba11111111", "ba22222222")));
        }
    },
    /// A site inside another: their patches exclude each other.
    OVERLAP {
        @Override
        Subject subject(long address, Targets targets) {
            return new Subject(
                    Subject.bytes("66b91111" + "66ba1111"),
                    mixed(0x1111, 0x2222, 0x1111, 0x2222),
                    List.of(
                            Subject.change(0, "66b91111" + "66ba1111", "66b92222" + "66ba2222"),
                            Subject.change(4, "66ba1111", "66ba2222")));
        }
    },
    HOOK_CALL(SiteInstruction.Form.CALL) {
        @Override
        Subject subject(long address, Targets targets) {
            return Subject.ofHook(Subject.transfer("e8", address, targets.original()));
        }
    },
    HOOK_CALL_PADDED(SiteInstruction.Form.CALL_PADDED) {
        @Override
        Subject subject(long address, Targets targets) {
            return Subject.ofHook(Subject.transfer("67e8", address, targets.original()));
        }
    },
    HOOK_CALL_GOT(SiteInstruction.Form.CALL_INDIRECT) {
        @Override
        Subject subject(long address, Targets targets) {
            return Subject.ofHook(Subject.transfer("ff15", address, targets.slot()));
        }
    },
    HOOK_JUMP(SiteInstruction.Form.JUMP) {
        @Override
        Subject subject(long address, Targets targets) {
            return Subject.ofHook(Subject.transfer("e9", address, targets.original()));
        }
    },
    HOOK_JUMP_GOT(SiteInstruction.Form.JUMP_INDIRECT) {
        @Override
        Subject subject(long address, Targets targets) {
            return Subject.ofHook(Subject.transfer("ff25", address, targets.slot()));
        }
    },
    // Entries of functions without compiler support. The name gives the offsets of instructions after the first.
    PUN_2_4(0x2214, "b111" + "b522" + "83c103", 2, 4),
    PUN_2(0x13, "b111" + "83c903", 2),
    PUN_1_4(0x12, "51" + "83c110" + "83c102" + "58", 1, 4), // push %rcx first, pop %rax behind
    PUN_4(5, "f30f1efa" + "83c105", 4),
    PUN_3(0x27, "83c107" + "83c120", 3),
    PUN_1(0x1111, "51" + "81c111110000" + "58", 1),
    PUN_1_2(9, "51" + "50" + "83c109" + "5858", 1, 2),
    PUN_1_2_4(0x34, "51" + "50" + "b133" + "83c101" + "5858", 1, 2, 4),
    PUN_1_2_3_4(0x0B, "51" + "50" + "51" + "50" + "83c10b" + "58585858", 1, 2, 3, 4),
    // By an invalid instruction: SIGILL, at the byte.
    PUN_4_UP(0x60CCCCCC, 5, "f30f1efa" + "83c105", 4),
    PUN_2_4_UP(0x61CCCCCC, 0x2214, "b111" + "b522" + "83c103", 2, 4),
    PUN_1_2_3_4_UP(0x60616061, 0x0B, "51" + "50" + "51" + "50" + "83c10b" + "58585858", 1, 2, 3, 4),
    // An atomic unit ends within the jump: it comes and goes in steps, and a gate is switched at once.
    PUN_2_4_CUT(0x2214, "b111" + "b522" + "83c103", 2, 4),
    PUN_1_CUT(0x1111, "51" + "81c111110000" + "58", 1),
    PUN_1_2_3_4_UP_CUT(0x60616061, 0x0B, "51" + "50" + "51" + "50" + "83c10b" + "58585858", 1, 2, 3, 4),
    // The jump stays once it is there, and the gate alone is switched.
    PUN_2_4_HELD(0x2214, "b111" + "b522" + "83c103", 2, 4),
    PUN_RELATIVE(0x11 + 0x20E2C148, "b111" + "030d00000000", 2), // adds the first bytes of Subject.AFTER
    PUN_CONDITION(0x11, "85c9" + "7503" + "83c901" + "83c910", 2), // test %ecx,%ecx; jne; or $1,%ecx
    PUN_CALL(Targets.ORIGINAL, "", 1) {
        @Override
        Subject subject(long address, Targets targets) {
            byte[] call = Subject.transfer("e8", address + 1, targets.original());
            return Subject.ofEntry(Subject.joined(Subject.bytes("51"), call, Subject.bytes("58")), Targets.ORIGINAL);
        }
    },
    /// lea (%rcx,%rdx),%eax; ret; and padding: shorter than a jump.
    PUN_RETURN(0, "", 3) {
        @Override
        Subject subject(long address, Targets targets) {
            return new Subject(Subject.bytes("8d0411" + "c3" + "90"), new long[] {0, 1}, List.of());
        }
    };

    private final @Nullable String first;
    private final @Nullable String second;
    private final long[] values;
    private final SiteInstruction.@Nullable Form form;

    /// Of the jump.
    private final int displacement;

    /// Instructions that threads reach without the previous ones.
    private final int[] heads;

    Kind(String first, String second, long... values) {
        this.first = first;
        this.second = second;
        this.values = values;
        form = null;
        displacement = 0;
        heads = new int[0];
    }

    Kind(long value, String instructions, int... heads) {
        this(PunInstaller.TRAPS, value, instructions, heads);
    }

    Kind(int displacement, long value, String instructions, int... heads) {
        this.displacement = displacement;
        first = instructions;
        second = null;
        values = new long[] {value};
        form = SiteInstruction.Form.INSTRUCTIONS;
        this.heads = heads;
    }

    Kind() {
        this(null);
    }

    Kind(SiteInstruction.@Nullable Form form) {
        first = null;
        second = null;
        values = new long[0];
        this.form = form;
        displacement = 0;
        heads = new int[0];
    }

    /// The code at `address`.
    Subject subject(long address, Targets targets) {
        if (isPun()) {
            return Subject.ofEntry(Subject.bytes(first), values[0]);
        }
        return Subject.ofWord(Subject.bytes(first), Subject.bytes(second), values);
    }

    /// Its form for callpatch; null if only wordpatch changes it.
    SiteInstruction.@Nullable Form form() {
        return form;
    }

    /// Whether it is the entry of a function without compiler support.
    boolean isPun() {
        return form == SiteInstruction.Form.INSTRUCTIONS;
    }

    /// Displacement of the jump at an entry without compiler support: its trapping bytes.
    int displacement() {
        return displacement;
    }

    /// Whether no single store can make its jump.
    boolean isCut() {
        return switch (this) {
            case PUN_2_4_CUT, PUN_1_CUT, PUN_1_2_3_4_UP_CUT, PUN_2_4_HELD -> true;
            default -> false;
        };
    }

    /// Whether such a jump stays when it is there.
    boolean isHeld() {
        return this == PUN_2_4_HELD;
    }

    int[] heads() {
        return heads.clone();
    }

    String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /// Combined result of two instructions that set rcx and rdx.
    private static long[] mixed(long rcx1, long rcx2, long rdx1, long rdx2) {
        return new long[] {rcx1 | rdx1 << 32, rcx2 | rdx2 << 32, rcx1 | rdx2 << 32, rcx2 | rdx1 << 32};
    }
}
