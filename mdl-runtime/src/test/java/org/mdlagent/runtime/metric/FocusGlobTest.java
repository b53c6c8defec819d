package org.mdlagent.runtime.metric;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mdlagent.runtime.mdl.request.FakeProgram;
import org.mdlagent.runtime.mdl.request.Focus;

class FocusGlobTest {
    private final FakeProgram program = new FakeProgram()
            .with("a.c", "/bin/p", "main", "foo")
            .with("b.cc", "/bin/p", "fun(char*)", "fun(char)")
            .with("c.c", "/bin/p", "g", "g.constprop.0", "g.part.0", "h.isra.0")
            .withInstances("/Process/4", "/Thread/4", "/Thread/51", "/Thread/52", "/SyncObject/Mutex/0x10")
            .withInstances("/File/(other)", "/File/etc/hosts", "/File/#2");

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        m                            | m
        m@/Thread/5                  | m@/Thread/5
        m@/Code/a.c/foo              | m@/Code/a.c/foo
        m@/Code/a.c/f*               | m@/Code/a.c/foo
        m@/Code/*/f*@/Thread/5       | m@/Code/a.c/foo@/Thread/5 m@/Code/b.cc/fun(char*)@/Thread/5 m@/Code/b.cc/fun(char)@/Thread/5
        m@/Code/?.c                  | m@/Code/a.c m@/Code/c.c
        m@/Code/b.cc/fun(char*)      | m@/Code/b.cc/fun(char*)
        m@/Code/*/nobody*            | m@/Code/*/nobody*
        m@/Code/c.c/*                | m@/Code/c.c/g m@/Code/c.c/h
        m@/Code/c.c/*.constprop*     | m@/Code/c.c/g.constprop.0
        m@/Thread/5?                 | m@/Thread/51 m@/Thread/52
        m@/Thread/*@/Code/a.c        | m@/Code/a.c@/Thread/4 m@/Code/a.c@/Thread/51 m@/Code/a.c@/Thread/52
        m@/Code/a.c/*@/Thread/5*     | m@/Code/a.c/main@/Thread/51 m@/Code/a.c/main@/Thread/52 m@/Code/a.c/foo@/Thread/51 m@/Code/a.c/foo@/Thread/52
        m@/SyncObject/*/*            | m@/SyncObject/Mutex/0x10
        m@/SyncObject/Mut*/0x*       | m@/SyncObject/Mutex/0x10
        m@/Machine/*                 | m@/Machine/*
        m@/File/*                    | m@/File/(other) m@/File/#2
        m@/File/etc/*                | m@/File/etc/hosts
        m@/File/*@/Process/4         | m@/File/(other)@/Process/4 m@/File/etc/hosts@/Process/4
        """)
    void shouldStandForEachThatMatches(String request, String expanded) {
        assertThat(FocusGlob.expand(MetricRequest.of(request).focus(), program))
                .containsExactlyElementsOf(List.of(expanded.split(" ")).stream()
                        .map(each -> MetricRequest.of(each).focus())
                        .toList());
    }

    @Test
    void shouldStandForNothingAsLongAsNoObjectHasAppeared() {
        Focus focus = MetricRequest.of("m@/SyncObject/Condition/*").focus();

        assertThat(FocusGlob.mayGrow(focus)).isTrue();
        assertThat(FocusGlob.expand(focus, program)).isEmpty();
        assertThat(FocusGlob.expand(MetricRequest.of("m@/File/?2").focus(), program))
                .isEmpty();
    }
}
