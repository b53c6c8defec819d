import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFile.ClassHierarchyResolverOption;
import java.lang.classfile.ClassFile.StackMapsOption;
import java.lang.classfile.ClassFileVersion;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeTransform;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/// `java RenewClasses.java FROM.jar TO.jar`: the same library with its classes in the format of Java 8. An AOT cache
/// takes no class of a format before Java 6, and picocli's are of Java 5: each start of `mdl` would read and verify its
/// largest ones anew.
final class RenewClasses {
    private RenewClasses() {}

    public static void main(String[] arguments) throws IOException {
        Map<String, byte[]> entries = new LinkedHashMap<>();
        try (ZipFile jar = new ZipFile(arguments[0])) {
            for (ZipEntry entry : Collections.list(jar.entries())) {
                try (InputStream in = jar.getInputStream(entry)) {
                    entries.put(entry.getName(), in.readAllBytes());
                }
            }
        }
        // Frames for the verifier need the classes' ancestors.
        ClassHierarchyResolver resolver = ClassHierarchyResolver.ofResourceParsing(type -> {
                    byte[] found = entries.get(type.packageName().replace('.', '/') + "/" + type.displayName() + ".class");
                    return found == null ? null : new ByteArrayInputStream(found);
                })
                .orElse(ClassHierarchyResolver.defaultResolver());
        ClassFile file = ClassFile.of(StackMapsOption.GENERATE_STACK_MAPS, ClassHierarchyResolverOption.of(resolver));
        try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(Path.of(arguments[1])))) {
            entries.forEach((name, content) -> {
                try {
                    out.putNextEntry(new ZipEntry(name));
                    out.write(name.endsWith(".class") ? renewed(file, content) : content);
                    out.closeEntry();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }

    private static byte[] renewed(ClassFile file, byte[] content) {
        ClassModel model = file.parse(content);
        if (model.majorVersion() >= ClassFile.JAVA_6_VERSION) {
            return content;
        }
        return file.transformClass(
                model,
                ClassTransform.transformingMethodBodies(CodeTransform.ACCEPT_ALL)
                        .andThen(ClassTransform.dropping(element -> element instanceof ClassFileVersion))
                        .andThen(ClassTransform.endHandler(
                                target -> target.withVersion(ClassFile.JAVA_8_VERSION, 0))));
    }
}
