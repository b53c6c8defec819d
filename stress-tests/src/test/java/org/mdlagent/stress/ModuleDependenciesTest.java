package org.mdlagent.stress;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Enforces the module dependencies drawn in `ARCHITECTURE.md`.
class ModuleDependenciesTest {
    private static final JavaClasses PRODUCT = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("org.mdlagent");

    /// Tests run in their module's directory.
    private static final Path PROJECT = Path.of("..");

    private static final ArchRule MODULES = layeredArchitecture()
            .consideringOnlyDependenciesInAnyPackage("org.mdlagent..")
            .withOptionalLayers(true)
            .layer("arch")
            .definedBy("org.mdlagent.arch..")
            .layer("wordpatch")
            .definedBy("org.mdlagent.wordpatch..")
            .layer("callpatch")
            .definedBy("org.mdlagent.callpatch..")
            .layer("fastinst")
            .definedBy("org.mdlagent.fastinst..")
            .layer("profiler")
            .definedBy("org.mdlagent.profiler..")
            .layer("mdl-runtime")
            .definedBy("org.mdlagent.runtime..", "org.mdlagent.client..")
            .layer("tmax-calibrator")
            .definedBy("org.mdlagent.calibrator..")
            .layer("bench")
            .definedBy("org.mdlagent.bench..")
            .whereLayer("arch")
            .mayNotAccessAnyLayer()
            .whereLayer("wordpatch")
            .mayOnlyAccessLayers("arch")
            .whereLayer("callpatch")
            .mayOnlyAccessLayers("arch")
            .whereLayer("fastinst")
            .mayOnlyAccessLayers("arch", "wordpatch", "callpatch")
            .whereLayer("profiler")
            .mayOnlyAccessLayers("arch", "fastinst")
            .whereLayer("mdl-runtime")
            .mayOnlyAccessLayers("arch", "fastinst", "profiler")
            .whereLayer("tmax-calibrator")
            .mayNotBeAccessedByAnyLayer()
            .whereLayer("tmax-calibrator")
            .mayOnlyAccessLayers("arch")
            .whereLayer("bench")
            .mayNotBeAccessedByAnyLayer();

    private static final DescribedPredicate<JavaClass> RUNS_IN_THE_PROGRAM = JavaClass.Predicates.resideInAnyPackage(
                    "org.mdlagent.arch.cpu..",
                    "org.mdlagent.arch.session..",
                    "org.mdlagent.arch.shim..",
                    "org.mdlagent.fastinst..",
                    "org.mdlagent.runtime.agent..")
            .or(DescribedPredicate.describe("write a session", ModuleDependenciesTest::writesSession));

    private static final DescribedPredicate<JavaClass> READS_SESSIONS = JavaClass.Predicates.resideInAnyPackage(
            "org.mdlagent.profiler.report..",
            "org.mdlagent.runtime.cli..",
            "org.mdlagent.runtime.serve..",
            "org.mdlagent.runtime.store..",
            "org.mdlagent.client..");

    /// All of the profiler but the reports, and what the agent shares with them.
    private static boolean writesSession(JavaClass type) {
        String name = type.getPackageName() + ".";
        return name.startsWith("org.mdlagent.profiler.")
                && Stream.of("report.", "figures.", "text.")
                        .noneMatch(part -> name.startsWith("org.mdlagent.profiler." + part));
    }

    @Test
    void shouldImportOnlyDownwards() {
        assertThat(PRODUCT).as("classes seen by the rule").hasSizeGreaterThan(20);

        MODULES.check(PRODUCT);
    }

    @Test
    void shouldNameTheInstructionSetOnlyInArch() {
        noClasses()
                .that()
                .resideOutsideOfPackage("org.mdlagent.arch..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("org.mdlagent.arch.x86..")
                .check(PRODUCT);
    }

    @Test
    void shouldNotMixJnaAndForeignMemoryInOneClass() {
        noClasses()
                .that(DescribedPredicate.describe("use JNA", ModuleDependenciesTest::usesJna))
                .should()
                .dependOnClassesThat()
                .resideInAPackage("java.lang.foreign..")
                .allowEmptyShould(true)
                .check(PRODUCT);
    }

    @Test
    void shouldUseLibrariesOnlyWhereTheyBelong() {
        noClasses()
                .that()
                .resideOutsideOfPackage("org.mdlagent.runtime.cli..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("com.sun.jna..")
                .check(PRODUCT);
        noClasses()
                .that()
                .resideOutsideOfPackages("org.mdlagent.runtime.cli..", "org.mdlagent.calibrator..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("picocli..")
                .check(PRODUCT);
        noClasses()
                .that()
                .resideOutsideOfPackages("org.mdlagent.profiler.report..", "org.mdlagent.calibrator..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("org.HdrHistogram..")
                .check(PRODUCT);
    }

    @Test
    void shouldReachTheProfileStoreFromTheCommandLineOnly() {
        noClasses()
                .that()
                .resideOutsideOfPackage("org.mdlagent.runtime.store..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("net.openhft..")
                .check(PRODUCT);
        noClasses()
                .that()
                .resideOutsideOfPackages("org.mdlagent.runtime.store..", "org.mdlagent.runtime.cli..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("org.mdlagent.runtime.store..")
                .check(PRODUCT);
    }

    /// The agent is in the program; reports, the command line and clients are in another process.
    @Test
    void shouldRunInTheProgramWithoutWhatReadsSessions() {
        assertThat(PRODUCT)
                .as("classes seen by the rule")
                .anyMatch(RUNS_IN_THE_PROGRAM)
                .anyMatch(READS_SESSIONS);

        noClasses()
                .that(RUNS_IN_THE_PROGRAM)
                .should()
                .dependOnClassesThat(READS_SESSIONS)
                .check(PRODUCT);
    }

    /// The inverse: a report needs no part of the agent.
    @Test
    void shouldReportWithoutWhatRunsInTheProgram() {
        noClasses()
                .that()
                .resideInAPackage("org.mdlagent.profiler.report..")
                .should()
                .dependOnClassesThat(RUNS_IN_THE_PROGRAM)
                .check(PRODUCT);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "arch",
                "wordpatch",
                "callpatch",
                "fastinst",
                "calibrator",
                "profiler",
                "runtime",
                "bench",
            })
    void shouldHaveNoCycleOfPackages(String module) {
        slices().assignedFrom(new PackagesOf("org.mdlagent." + module))
                .should()
                .beFreeOfCycles()
                .check(PRODUCT);
    }

    /// Every package of a module by itself.
    private record PackagesOf(String module) implements SliceAssignment {
        @Override
        public SliceIdentifier getIdentifierOf(JavaClass type) {
            String name = type.getPackageName();
            return name.equals(module) || name.startsWith(module + ".")
                    ? SliceIdentifier.of(name)
                    : SliceIdentifier.ignore();
        }

        @Override
        public String getDescription() {
            return "packages of " + module;
        }
    }

    @Test
    void shouldDependOnTheLayersBelowAsPackagesDrawThem() throws IOException {
        List<LayerDrawing> drawings = LayerDrawing.all(PROJECT);
        assertThat(drawings).extracting(LayerDrawing::root).contains("org.mdlagent.arch", "org.mdlagent.profiler");

        for (LayerDrawing drawing : drawings) {
            assertThat(drawing.unknown(PRODUCT))
                    .as("packages that only the drawing of %s has", drawing.root())
                    .isEmpty();
            assertThat(drawing.violations(PRODUCT))
                    .as("dependencies upwards in %s", drawing.root())
                    .isEmpty();
        }
    }

    /// Proves that the rule can fail: an inverted table has violations.
    @Test
    void shouldFindDependenciesUpwards() {
        LayerDrawing wrong = LayerDrawing.of("""
                /// | `report.codec` | |
                /// | `report.profile`, `report.slice`, `slice` | |
                /// | `profiler` | |
                package org.mdlagent.profiler;
                """);

        assertThat(wrong.violations(PRODUCT))
                .anyMatch(line ->
                        line.startsWith("org.mdlagent.profiler.report.profile -> org.mdlagent.profiler.report.codec"))
                .anyMatch(line ->
                        line.startsWith("org.mdlagent.profiler.report.slice -> org.mdlagent.profiler.report.profile"))
                .noneMatch(line -> line.startsWith("org.mdlagent.profiler.slice -> org.mdlagent.profiler,"));
    }

    private static boolean usesJna(JavaClass type) {
        return type.getDirectDependenciesFromSelf().stream()
                .anyMatch(dependency ->
                        dependency.getTargetClass().getPackageName().startsWith("com.sun.jna"));
    }
}
