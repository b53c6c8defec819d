package net.openhft.chronicle.values;

/// Prints the source of a class that Chronicle Map would make when it starts. In the library's package, since nothing
/// else may ask for it.
public final class ValueSource {
    private static final String SUFFIX = "$$Native";

    private ValueSource() {}

    public static void main(String[] arguments) throws ClassNotFoundException {
        String name = arguments[0];
        Class<?> type = Class.forName(name.substring(0, name.length() - SUFFIX.length()));
        String simple = name.substring(name.lastIndexOf('.') + 1);
        System.out.print(Generators.generateNativeClass(ValueModel.acquire(type), simple));
    }
}
