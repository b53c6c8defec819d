package org.mdlagent.runtime.metric;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.runtime.mdl.request.FakeProgram;

class FocusGlobTest {
    private final FakeProgram program =
            new FakeProgram().with("a.c", "/bin/p", "main", "foo").with("b.cc", "/bin/p", "fun(char*)", "fun(char)");

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        m                            | m
        m@/Thread/5                  | m@/Thread/5
        m@/Code/a.c/foo              | m@/Code/a.c/foo
        m@/Code/a.c/f*               | m@/Code/a.c/foo
        m@/Code/*/f*@/Thread/5       | m@/Code/a.c/foo@/Thread/5 m@/Code/b.cc/fun(char*)@/Thread/5 m@/Code/b.cc/fun(char)@/Thread/5
        m@/Code/?.c                  | m@/Code/a.c
        m@/Code/b.cc/fun(char*)      | m@/Code/b.cc/fun(char*)
        m@/Code/*/nobody*            | m@/Code/*/nobody*
        """)
    void shouldStandForEachThatMatches(String request, String expanded) {
        assertThat(FocusGlob.expand(MetricRequest.of(request).focus(), program))
                .containsExactlyElementsOf(List.of(expanded.split(" ")).stream()
                        .map(each -> MetricRequest.of(each).focus())
                        .toList());
    }
}
