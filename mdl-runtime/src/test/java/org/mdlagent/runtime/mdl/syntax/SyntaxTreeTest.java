package org.mdlagent.runtime.mdl.syntax;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.mdlagent.runtime.mdl.Resources;

/// Syntax trees of right files, in both dialects.
class SyntaxTreeTest {
    @TestFactory
    Stream<DynamicTest> shouldReadBothDialects() {
        return Resources.in("ast").stream()
                .map(file -> DynamicTest.dynamicTest(file.getFileName().toString(), () -> check(file)));
    }

    private static void check(Path path) throws Exception {
        SourceFile file = Resources.read(path);
        Diagnostics diagnostics = new Diagnostics(file);
        String tree = SyntaxPrinter.print(SyntaxTree.parse(file, diagnostics));

        assertThat(diagnostics.all()).isEmpty();
        assertThat(tree).isEqualTo(Resources.expected(path, tree));
    }
}
