package org.mdlagent.runtime.options;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/// Options as text: `key=value,key=value` in `MDL_OPTIONS`, or a properties file. Keys are not checked here.
///
/// A key alone means `key=on`; a repeated key has several values. In a value, `\,` is a comma and `\\` a
/// backslash. In a properties file a value is a list with the same rules (there, each backslash is doubled).
public final class AgentOptionsText {
    private final Map<String, List<String>> values = new LinkedHashMap<>();

    /// Parses `key=value,key=value`.
    public static AgentOptionsText parse(String text) {
        AgentOptionsText options = new AgentOptionsText();
        for (String item : split(text)) {
            // Only the first equals sign separates: values may contain more.
            int equals = item.indexOf('=');
            String key = (equals < 0 ? item : item.substring(0, equals)).strip();
            if (!key.isEmpty() || equals >= 0) {
                options.add(key, equals < 0 ? "on" : item.substring(equals + 1).strip());
            }
        }
        return options;
    }

    /// Reads a properties file; a missing file is empty.
    public static AgentOptionsText load(Path file) throws IOException {
        AgentOptionsText options = new AgentOptionsText();
        if (!Files.exists(file)) {
            return options;
        }
        Properties properties = new Properties();
        try (InputStream in = Files.newInputStream(RegularFile.of(file))) {
            properties.load(in);
        } catch (IllegalArgumentException e) {
            throw new IOException(e.getMessage(), e);
        }
        for (String key : properties.stringPropertyNames()) {
            List<String> list = split(properties.getProperty(key));
            for (String value : list.isEmpty() ? List.of("") : list) {
                options.add(key, value.strip());
            }
        }
        return options;
    }

    /// Adds a value to an option.
    public void add(AgentOption option, String value) {
        add(option.key(), value);
    }

    /// Adds a value to a key.
    public void add(String key, String value) {
        List<String> list = values.get(key);
        if (list == null) {
            list = new ArrayList<>();
            values.put(key, list);
        }
        list.add(value);
    }

    /// Removes a key.
    ///
    /// @return its values, none if it was not there
    public List<String> remove(String key) {
        List<String> list = values.remove(key);
        return list == null ? List.of() : list;
    }

    /// These options, and those of `farther` whose key is not among them.
    public AgentOptionsText over(AgentOptionsText farther) {
        AgentOptionsText merged = new AgentOptionsText();
        merged.values.putAll(farther.values);
        merged.values.putAll(values);
        return merged;
    }

    Map<String, List<String>> values() {
        return values;
    }

    /// The last value of an option, or null.
    @Nullable
    public String last(AgentOption option) {
        List<String> list = values.get(option.key());
        return list == null ? null : list.get(list.size() - 1);
    }

    /// In the form that [#parse] reads.
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (Map.Entry<String, List<String>> entry : values.entrySet()) {
            for (String value : entry.getValue()) {
                text.append(text.isEmpty() ? "" : ",");
                escape(entry.getKey(), text).append('=');
                escape(value, text);
            }
        }
        return text.toString();
    }

    private static StringBuilder escape(String part, StringBuilder text) {
        for (int i = 0; i < part.length(); i++) {
            char c = part.charAt(i);
            text.append(c == ',' || c == '\\' ? "\\" : "").append(c);
        }
        return text;
    }

    private static List<String> split(String text) {
        List<String> items = new ArrayList<>();
        StringBuilder item = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean escaped = c == '\\' && i + 1 < text.length() && ",\\".indexOf(text.charAt(i + 1)) >= 0;
            if (escaped) {
                item.append(text.charAt(++i));
            } else if (c == ',') {
                items.add(item.toString());
                item.setLength(0);
            } else {
                item.append(c);
            }
        }
        if (!item.isEmpty()) {
            items.add(item.toString());
        }
        return items;
    }
}
