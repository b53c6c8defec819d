package org.mdlagent.fastinst.provider;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Decides from the demangled name of a C++ function whether all of its parameters are in registers (System V
/// ABI, AMD64 supplement, 3.2.3). A function without parameters on the stack cannot pass any on.
///
/// What a name does not tell is assumed: a hidden pointer to the result, and `this`. A class passed by value
/// may be on the stack, and an enumeration's name looks like a class's, so both are refused unless they are
/// in [#IN_REGISTERS].
final class NamedParameters {
    private static final int INTEGER_REGISTERS = 6;
    private static final int VECTOR_REGISTERS = 8;

    /// A hidden pointer to the result, and `this`.
    private static final int ASSUMED = 2;

    /// Maximum integer registers for a parameter of a type. Template arguments are left out. Classes with a
    /// destructor or a copy constructor are passed by address.
    private static final Map<String, Integer> IN_REGISTERS = Map.ofEntries(
            Map.entry("bool", 1),
            Map.entry("char", 1),
            Map.entry("signed char", 1),
            Map.entry("unsigned char", 1),
            Map.entry("wchar_t", 1),
            Map.entry("char8_t", 1),
            Map.entry("char16_t", 1),
            Map.entry("char32_t", 1),
            Map.entry("short", 1),
            Map.entry("unsigned short", 1),
            Map.entry("int", 1),
            Map.entry("unsigned int", 1),
            Map.entry("long", 1),
            Map.entry("unsigned long", 1),
            Map.entry("long long", 1),
            Map.entry("unsigned long long", 1),
            Map.entry("__int128", 2),
            Map.entry("unsigned __int128", 2),
            Map.entry("decltype(nullptr)", 1),
            Map.entry("std::nullptr_t", 1),
            Map.entry("std::string", 1),
            Map.entry("std::basic_string", 1),
            Map.entry("std::__cxx11::basic_string", 1),
            Map.entry("std::basic_string_view", 2),
            Map.entry("std::initializer_list", 2),
            Map.entry("std::locale", 1),
            Map.entry("std::shared_ptr", 1),
            Map.entry("std::unique_ptr", 1),
            Map.entry("std::function", 1),
            Map.entry("std::vector", 1),
            Map.entry("std::fpos", 2),
            Map.entry("std::istreambuf_iterator", 2),
            Map.entry("std::ostreambuf_iterator", 2),
            Map.entry("std::_Ios_Fmtflags", 1),
            Map.entry("std::_Ios_Iostate", 1),
            Map.entry("std::_Ios_Openmode", 1),
            Map.entry("std::_Ios_Seekdir", 1));

    private NamedParameters() {}

    /// Whether all parameters are in registers; false if the name does not tell.
    ///
    /// @param name as demanglers print it, with parameters
    static boolean inRegisters(String name) {
        List<String> parameters = parameters(withoutQualifiers(name));
        if (parameters == null) {
            return false;
        }
        int integers = ASSUMED;
        int vectors = 0;
        for (String parameter : parameters) {
            if (parameter.equals("float") || parameter.equals("double")) {
                vectors++;
            } else {
                integers += integers(parameter);
            }
        }
        return integers <= INTEGER_REGISTERS && vectors <= VECTOR_REGISTERS;
    }

    private static String withoutQualifiers(String name) {
        String rest = name;
        while (true) {
            int length = rest.length();
            for (String qualifier : List.of(" const", " volatile", " &", " &&", "&")) {
                if (rest.endsWith(qualifier)) {
                    rest = rest.substring(0, rest.length() - qualifier.length());
                }
            }
            if (rest.length() == length) {
                return rest;
            }
        }
    }

    /// The types in the last parentheses, without template arguments; null if these are not a function's
    /// parameters.
    private static @Nullable List<String> parameters(String name) {
        int open = name.endsWith(")") ? opening(name) : -1;
        if (open <= 0) {
            return null;
        }
        String function = name.substring(0, open);
        if (function.endsWith(")") && !function.endsWith("operator()")) {
            return null; // it returns a pointer to a function, with these parameters
        }
        List<String> parameters = new ArrayList<>();
        StringBuilder current = new StringBuilder();
        int angles = 0;
        int parentheses = 0;
        for (int i = open + 1; i < name.length() - 1; i++) {
            char c = name.charAt(i);
            angles += c == '<' ? 1 : c == '>' ? -1 : 0;
            parentheses += c == '(' ? 1 : c == ')' ? -1 : 0;
            if (angles < 0 || parentheses < 0) {
                return null;
            } else if (c == ',' && angles == 0 && parentheses == 0) {
                parameters.add(current.toString().strip());
                current.setLength(0);
            } else if (angles == 0 && c != '>') {
                current.append(c);
            }
        }
        String last = current.toString().strip();
        if (!last.isEmpty() && !last.equals("void")) {
            parameters.add(last);
        }
        return angles == 0 && parentheses == 0 && name.indexOf("operator", open) < 0 ? parameters : null;
    }

    /// Position of the parenthesis that the last character closes.
    private static int opening(String name) {
        int depth = 0;
        for (int i = name.length() - 1; i >= 0; i--) {
            char c = name.charAt(i);
            depth += c == ')' ? 1 : c == '(' ? -1 : 0;
            if (depth == 0) {
                return i;
            }
        }
        return -1;
    }

    /// Integer registers of a parameter; more than there are if unknown.
    private static int integers(String type) {
        if (type.contains("::*)(")) {
            return 2; // a pointer to a member function
        } else if (type.endsWith("*") || type.endsWith("&") || type.contains("(*)") || type.contains("(&)")) {
            return 1;
        }
        return IN_REGISTERS.getOrDefault(type, INTEGER_REGISTERS + 1);
    }
}
