package org.mdlagent.profiler.report.page;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;

/// A self-contained page, built from resources: its markup, its styles, and its scripts, which follow
/// `page.js`.
public final class Page {
    private Page() {}

    /// @param policy  content security policy, in addition to the page's own
    /// @param json    data for the scripts
    /// @param scripts in load order
    public static void write(
            String markup, String policy, List<String> styles, CharSequence json, List<String> scripts, Appendable out)
            throws IOException {
        // In JSON, `<` occurs only in strings; a name with </script> must not end the element.
        String embedded = json.toString().replace("<", "\\u003c");
        String script = resource("page.js") + resources(scripts);
        out.append(resource(markup).formatted(policy, resources(styles), embedded, script));
    }

    private static String resources(List<String> names) throws IOException {
        StringBuilder text = new StringBuilder();
        for (String name : names) {
            text.append(resource(name));
        }
        return text.toString();
    }

    static String resource(String name) throws IOException {
        try (InputStream in = Objects.requireNonNull(Page.class.getResourceAsStream(name), name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
