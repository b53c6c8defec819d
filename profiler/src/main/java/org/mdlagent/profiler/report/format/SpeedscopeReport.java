package org.mdlagent.profiler.report.format;

import java.io.IOException;
import java.util.IdentityHashMap;
import java.util.List;
import org.mdlagent.profiler.report.profile.CallTree;
import org.mdlagent.profiler.report.profile.CodeFrame;
import org.mdlagent.profiler.report.profile.Profile;
import org.mdlagent.profiler.text.JsonWriter;

/// The report for speedscope (<https://www.speedscope.app/file-format-schema.json>): a sampled profile whose
/// samples are call paths, weighted by the CPU time of each path's last function itself.
public final class SpeedscopeReport {
    private SpeedscopeReport() {}

    /// Writes all call paths of a profile.
    public static void write(Profile profile, Appendable out) throws IOException {
        List<CallTree.Node> nodes = profile.paths().nodes().stream()
                .filter(node -> node.selfNanos() > 0)
                .toList();
        IdentityHashMap<CodeFrame, Long> frames = new IdentityHashMap<>();
        JsonWriter json = new JsonWriter(out, false);
        json.beginObject();
        json.member("$schema", "https://www.speedscope.app/file-format-schema.json");
        json.member("exporter", "mdl");
        json.member("name", profile.session().id());
        json.name("shared").beginObject();
        json.beginArray("frames");
        for (CallTree.Node node : nodes) {
            for (CodeFrame frame : node.path()) {
                if (frames.putIfAbsent(frame, (long) frames.size()) == null) {
                    frame(frame, json.element());
                }
            }
        }
        json.endArray();
        json.endObject();
        json.beginArray("profiles");
        json.element().beginObject();
        json.member("type", "sampled");
        json.member("name", profile.session().name());
        json.member("unit", "nanoseconds");
        json.member("startValue", 0);
        json.member(
                "endValue", nodes.stream().mapToLong(CallTree.Node::selfNanos).sum());
        json.beginArray("samples");
        for (CallTree.Node node : nodes) {
            json.element().beginArray();
            for (CodeFrame frame : node.path()) {
                json.element(frames.getOrDefault(frame, 0L));
            }
            json.endArray();
        }
        json.endArray();
        json.beginArray("weights");
        for (CallTree.Node node : nodes) {
            json.element(node.selfNanos());
        }
        json.endArray();
        json.endObject();
        json.endArray();
        json.endObject();
        out.append('\n');
    }

    private static void frame(CodeFrame frame, JsonWriter json) throws IOException {
        json.beginObject();
        json.member("name", frame.name());
        json.member("file", frame.file());
        if (frame.line() > 0) {
            json.member("line", frame.line());
        }
        json.endObject();
    }
}
