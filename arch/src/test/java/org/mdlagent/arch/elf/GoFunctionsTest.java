package org.mdlagent.arch.elf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The oracle is the symbol table that Go's linker has written into the same file.
class GoFunctionsTest {
    private static final int CASES = 3_000;
    private static final long SEED = 7;

    @TempDir
    @Nullable
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"-buildmode=exe", "-buildmode=pie", "-buildmode=pie -ldflags=-linkmode=external"})
    void shouldKnowTheFunctionsThatTheSymbolTableHas(String flags) throws IOException {
        Path program = build(flags);
        try (ElfFile elf = ElfFile.open(program)) {
            SymbolTable functions = elf.goFunctions();
            SymbolTable symbols = elf.symbols();
            assertThat(elf.isGo()).isTrue();
            assertThat(functions).isNotNull();
            int same = 0;
            for (int i = 0; i < functions.size(); i++) {
                int symbol = symbols.at(functions.start(i));
                assertThat(symbol).as(functions.name(i)).isNotNegative();
                String name = functions.name(i);
                same += symbols.names(symbol).stream()
                                .anyMatch(other -> other.equals(name) || other.equals(name + ".abi0"))
                        ? 1
                        : 0;
            }
            // Go's table names some functions of its runtime, which are instances of generic ones, in brief.
            assertThat(same).isGreaterThan(1000).isGreaterThan(functions.size() * 98 / 100);
            assertThat(Stream.of("main.main", "main.(*Pile).Add"))
                    .allSatisfy(name -> assertThat(named(functions, name)).isEqualTo(named(symbols, name)));
        }
    }

    @Test
    void shouldNameTheFunctionsOfAStrippedProgram() throws IOException {
        try (ElfFile elf = ElfFile.open(build("-ldflags=-s"))) {
            assertThat(named(elf.symbols(), "main.(*Pile).Add")).isPositive();
        }
        try (ElfFile elf = ElfFile.open(Programs.small("-O1"))) {
            assertThat(elf.isGo()).isFalse();
            assertThat(elf.goFunctions()).isNull();
        }
    }

    @Test
    void shouldReadOrRefuseDamagedTables() throws IOException {
        byte[] whole = Files.readAllBytes(build("-ldflags=-s"));
        long table;
        try (ElfFile elf = ElfFile.of("whole", whole)) {
            table = elf.section(GoFunctions.SECTION).offset();
        }
        int refused = 0;
        for (int i = 0; i < CASES; i++) {
            SplittableRandom random = new SplittableRandom(SEED + i);
            ByteBuffer damaged = ByteBuffer.wrap(whole.clone()).order(ByteOrder.LITTLE_ENDIAN);
            long functions = table + damaged.getLong((int) table + 64);
            for (int change = 0; change <= i % 3; change++) {
                boolean header = random.nextInt(4) == 0;
                int at = (int) (header ? table + random.nextInt(80) : functions + random.nextInt(20_000));
                switch (random.nextInt(3)) {
                    case 0 -> damaged.put(at, (byte) random.nextInt());
                    case 1 -> damaged.putInt(at, random.nextInt());
                    default -> damaged.putLong(at & -8, random.nextBoolean() ? Long.MAX_VALUE : -random.nextInt());
                }
            }
            try (ElfFile elf = ElfFile.of("damaged", damaged.array())) {
                SymbolTable read = elf.symbols();
                for (int f = 0; f < read.size(); f += 97) {
                    assertThat(read.name(f)).isNotNull();
                }
            } catch (ElfFormatException e) {
                refused++;
            } catch (RuntimeException | Error e) {
                throw new AssertionError("case with seed " + (SEED + i), e);
            }
        }
        assertThat(refused).isBetween(CASES / 50, CASES - CASES / 50);
    }

    private static long named(SymbolTable symbols, String name) {
        for (int i = 0; i < symbols.size(); i++) {
            if (symbols.name(i).equals(name)) {
                return symbols.start(i);
            }
        }
        throw new AssertionError("no function " + name);
    }

    private Path build(String flags) throws IOException {
        assumeTrue(
                Stream.of(System.getenv("PATH").split(File.pathSeparator))
                        .anyMatch(entry -> Files.isExecutable(Path.of(entry, "go"))),
                "go is not installed; it is in Debian's package golang-go");
        Path source = Files.writeString(directory.resolve("main.go"), """
                package main

                import "fmt"

                type Pile struct{ sum int }

                //go:noinline
                func (p *Pile) Add(n int) { p.sum += len(fmt.Sprint(n)) }

                func main() {
                	p := &Pile{}
                	p.Add(5)
                	fmt.Println(p.sum)
                }
                """);
        Path program = directory.resolve("program");
        List<String> command = new ArrayList<>(List.of(
                "env",
                "GO111MODULE=off",
                "GOCACHE=" + directory.resolveSibling("mdl-go-cache"),
                "go",
                "build",
                "-o",
                program.toString()));
        command.addAll(List.of(flags.split(" ")));
        command.add(source.toString());
        Programs.run(command.toArray(String[]::new));
        return program;
    }
}
