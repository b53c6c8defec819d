package org.mdlagent.runtime.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExpositionFormatTest {
    private static final String PROTOBUF =
            "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";

    /// What servers with native histograms send: 2.42, 3.0, and a client in Go.
    @ParameterizedTest
    @ValueSource(
            strings = {
                PROTOBUF + ",application/openmetrics-text;version=1.0.0;q=0.8,application/openmetrics-text;"
                        + "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
                PROTOBUF + ";escaping=allow-utf-8;q=0.6,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,*/*;q=0.2",
                "application/vnd.google.protobuf; proto=\"io.prometheus.client.MetricFamily\"; encoding=delimited"
            })
    void shouldWriteProtobufForWhomItIsBest(String accept) {
        assertThat(ExpositionFormat.wanted(List.of(accept))).isEqualTo(ExpositionFormat.PROTOBUF);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "*/*",
                ";;q=,,=",
                "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
                "application/vnd.google.protobuf",
                "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text",
                PROTOBUF + ";q=0",
                PROTOBUF + ";q=x",
                PROTOBUF + ";q=0.4,text/plain;q=0.5"
            })
    void shouldWriteTextForAllOthers(String accept) {
        assertThat(ExpositionFormat.wanted(List.of(accept))).isEqualTo(ExpositionFormat.TEXT);
    }

    @Test
    void shouldWriteTextForWhoAsksForNothing() {
        assertThat(ExpositionFormat.wanted(List.of())).isEqualTo(ExpositionFormat.TEXT);
    }
}
