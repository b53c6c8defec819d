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
import org.junit.jupiter.api.Test;

/// Who may import whom: the picture in `ARCHITECTURE.md`, enforced.
class ModuleDependenciesTest {
    private static final JavaClasses PRODUCT = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("org.mdlagent");

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
            .definedBy("org.mdlagent.runtime..")
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
    void shouldHaveNoCircleOfPackagesInArch() {
        slices().matching("org.mdlagent.arch.(**)").should().beFreeOfCycles().check(PRODUCT);
        noClasses()
                .that()
                .resideInAPackage("org.mdlagent.arch.*..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("org.mdlagent.arch")
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

    private static boolean usesJna(JavaClass type) {
        return type.getDirectDependenciesFromSelf().stream()
                .anyMatch(dependency ->
                        dependency.getTargetClass().getPackageName().startsWith("com.sun.jna"));
    }
}
