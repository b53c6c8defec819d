package org.mdlagent.arch.elf;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/// Real files to read, and binutils, which is the oracle.
final class Programs {
    private static final String CPP = """
            #include <cstdio>
            #include <map>
            #include <string>
            #include <vector>

            struct Shape {
                std::string name = "shape";
                virtual ~Shape() {}
                virtual int area(int x) { return x * 2; }
            };

            __attribute__((noinline)) static int sum(const std::map<std::string, int> &counts) {
                int total = 0;
                for (auto &[word, count] : counts) {
                    total += count + static_cast<int>(word.size());
                }
                return total;
            }

            __attribute__((noinline)) int framed(int n) {
                volatile char *memory = static_cast<char *>(__builtin_alloca(n * 16));
                for (int i = 0; i < n; i++) {
                    memory[i] = static_cast<char>(i);
                }
                return memory[n / 2];
            }

            template <typename T> T never_called(T t) { return t * t; }
            template int never_called<int>(int);

            int main(int count, char **words) {
                std::map<std::string, int> counts;
                std::vector<int> lengths;
                for (int i = 0; i < count; i++) {
                    counts[words[i]] += i;
                    lengths.push_back(framed(i + 1));
                }
                Shape shape;
                try {
                    std::printf("%d %d %zu\\n", sum(counts), shape.area(count), lengths.size());
                    if (count > 3) {
                        throw shape;
                    }
                } catch (Shape &) {
                    return 2;
                }
                return 0;
            }
            """;

    private static final String C = """
            #include <stdio.h>

            static int twice(int x) { return 2 * x; }
            __attribute__((noinline, weak)) int weak_name(int x) { return twice(x) + 1; }
            extern int strong_name(int) __attribute__((alias("weak_name")));
            static int local_name(int) __attribute__((alias("weak_name"), used));
            int (*pointer)(const char *) = puts;

            int main(int count, char **words) {
                return printf("%d %s\\n", strong_name(count), words[0]) < 0 || pointer("end") < 0;
            }
            """;

    /// The instructions that concern the CFA, those that do not but must be skipped, and each way to advance.
    private static final String CFI = """
            .globl probe
            .type probe, @function
            probe:
            .cfi_startproc
            nop
            .cfi_escape 0x0c, 7, 24             # def_cfa
            nop
            .cfi_escape 0x0d, 6                 # def_cfa_register
            nop
            .cfi_escape 0x0e, 40                # def_cfa_offset
            .skip 100, 0x90
            .cfi_escape 0x0a                    # remember_state
            .cfi_escape 0x12, 7, 0x7c           # def_cfa_sf
            .skip 300, 0x90
            .cfi_escape 0x0a                    # remember_state
            .cfi_escape 0x13, 0x7a              # def_cfa_offset_sf
            .skip 70000, 0x90
            .cfi_escape 0x0b                    # restore_state
            nop
            .cfi_escape 0x05, 3, 2              # offset_extended
            .cfi_escape 0x06, 3                 # restore_extended
            .cfi_escape 0x07, 3                 # undefined
            .cfi_escape 0x08, 3                 # same_value
            .cfi_escape 0x09, 3, 12             # register
            .cfi_escape 0x10, 3, 1, 0x30        # expression
            .cfi_escape 0x11, 3, 2              # offset_extended_sf
            .cfi_escape 0x14, 3, 2              # val_offset
            .cfi_escape 0x15, 3, 2              # val_offset_sf
            .cfi_escape 0x16, 3, 1, 0x30        # val_expression
            .cfi_escape 0x2e, 16                # GNU_args_size
            .cfi_escape 0x2f, 3, 2              # GNU_negative_offset_extended
            .cfi_escape 0x83, 2                 # offset
            .cfi_escape 0xc3                    # restore
            .cfi_escape 0x0e, 0xb8, 0x80, 0x01  # def_cfa_offset
            nop
            .cfi_escape 0x0f, 1, 0x30           # def_cfa_expression
            nop
            .cfi_escape 0x0b                    # restore_state
            nop
            .cfi_endproc
            .size probe, . - probe
            .section .note.GNU-stack, "", @progbits
            """;

    private static final Path DIRECTORY = directory();
    private static final Map<String, Path> BUILT = new ConcurrentHashMap<>();

    private Programs() {}

    private static Path directory() {
        try {
            Path directory = Files.createTempDirectory("elf-test");
            Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(directory)));
            Files.writeString(directory.resolve("program.cpp"), CPP);
            Files.writeString(directory.resolve("small.c"), C);
            Files.writeString(directory.resolve("cfi.s"), CFI);
            return directory.toRealPath();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void delete(Path directory) {
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
            Files.delete(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// A C++ program with exceptions, templates and virtual functions.
    static Path cpp(String... flags) {
        return build("g++", "program.cpp", flags);
    }

    /// A C program of a few functions.
    static Path small(String... flags) {
        return build("gcc", "small.c", flags);
    }

    static Path everyCfaInstruction() {
        return build("gcc", "cfi.s", "-shared", "-nostdlib");
    }

    private static Path build(String compiler, String source, String... flags) {
        return BUILT.computeIfAbsent(source + String.join("", flags), key -> {
            Path program = DIRECTORY.resolve(Integer.toHexString(key.hashCode()));
            List<String> command = new ArrayList<>(List.of(compiler));
            command.addAll(List.of(flags));
            command.addAll(
                    List.of("-o", program.toString(), DIRECTORY.resolve(source).toString()));
            run(command.toArray(String[]::new));
            return program;
        });
    }

    /// A copy that `objcopy` or `strip` has changed.
    static Path changed(Path program, String tool, String... flags) {
        return BUILT.computeIfAbsent(program + tool + String.join("", flags), key -> {
            Path copy = DIRECTORY.resolve(Integer.toHexString(key.hashCode()));
            List<String> command = new ArrayList<>(List.of(tool));
            command.addAll(List.of(flags));
            command.addAll(tool.equals("strip") ? List.of("-o", copy.toString(), program.toString()) : List.of());
            if (tool.equals("objcopy")) {
                command.addAll(List.of(program.toString(), copy.toString()));
            }
            run(command.toArray(String[]::new));
            return copy;
        });
    }

    /// A file without section headers, as the most thorough strippers leave it.
    static Path withoutSections(Path program) throws IOException {
        byte[] bytes = Files.readAllBytes(program);
        for (int i = 0; i < 8; i++) {
            bytes[40 + i] = 0;
        }
        for (int i = 58; i < 64; i++) {
            bytes[i] = 0;
        }
        return Files.write(DIRECTORY.resolve(program.getFileName() + "-sections"), bytes);
    }

    static List<Path> system() {
        return Stream.of(
                        "/lib/x86_64-linux-gnu/libc.so.6",
                        "/lib/x86_64-linux-gnu/libm.so.6",
                        "/lib64/ld-linux-x86-64.so.2",
                        "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
                        "/bin/bash")
                .map(Path::of)
                .filter(Files::exists)
                .toList();
    }

    /// What binutils print. Their exit status is no use: readelf's is 1 when a separate debug file is missing.
    static List<String> print(String... command) {
        return run(true, command);
    }

    static void run(String... command) {
        run(false, command);
    }

    private static List<String> run(boolean mayFail, String... command) {
        try {
            ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD);
            builder.environment().put("LC_ALL", "C");
            Process process = builder.start();
            process.getOutputStream().close();
            List<String> lines = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
            if (process.waitFor() != 0 && !mayFail) {
                throw new IllegalStateException(String.join(" ", command) + " failed");
            }
            return lines;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
