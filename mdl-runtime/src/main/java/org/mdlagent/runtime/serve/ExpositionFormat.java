package org.mdlagent.runtime.serve;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/// The exposition formats of Prometheus, and content negotiation (RFC 9110, section 12.5.1).
///
/// Protobuf is `application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited`,
/// which Prometheus requests if it stores native histograms.
enum ExpositionFormat {
    TEXT("text/plain; version=0.0.4; charset=utf-8"),
    PROTOBUF("application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited");

    private final String contentType;

    ExpositionFormat(String contentType) {
        this.contentType = contentType;
    }

    String contentType() {
        return contentType;
    }

    /// @param accept values of the request's header `Accept`
    static ExpositionFormat wanted(List<String> accept) {
        double text = 0;
        double protobuf = 0;
        for (String range : String.join(",", accept).split(",")) {
            Map<String, String> parameters = parameters(range);
            String type = parameters.getOrDefault("", "");
            if (type.equals("text/plain")) {
                text = Math.max(text, quality(parameters));
            } else if (type.equals("application/vnd.google.protobuf")
                    && parameters.getOrDefault("proto", "").equals("io.prometheus.client.metricfamily")
                    && parameters.getOrDefault("encoding", "").equals("delimited")) {
                protobuf = Math.max(protobuf, quality(parameters));
            }
        }
        return protobuf > 0 && protobuf >= text ? PROTOBUF : TEXT;
    }

    /// Parameters by lower-case name; the type itself under "".
    private static Map<String, String> parameters(String range) {
        Map<String, String> parameters = new TreeMap<>();
        String[] parts = range.toLowerCase(Locale.ROOT).split(";");
        parameters.put("", parts[0].strip());
        Arrays.stream(parts)
                .skip(1)
                .map(part -> part.split("=", 2))
                .filter(pair -> pair.length == 2)
                .forEach(pair -> parameters.put(pair[0].strip(), pair[1].strip().replace("\"", "")));
        return parameters;
    }

    private static double quality(Map<String, String> parameters) {
        try {
            return Double.parseDouble(parameters.getOrDefault("q", "1"));
        } catch (NumberFormatException e) {
            return 0;
        }
    }
}
