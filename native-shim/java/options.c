/* Writes the agent's options (mdl/options.def) as Java sources: mdl-java-options DIRECTORY. */
#include "source.h"

struct option {
  const char *name, *key, *type, *normal;
  long least, most;
  const char *values;
};

static const struct option options[] = {
#define OPTION(name, key, type, normal, least, most, values) {#name, key, #type, normal, least, most, values},
#define COMMAND_LINE(name, names, label, value, commands, text)
#include <mdl/options.def>
};
enum { OPTIONS = sizeof options / sizeof options[0] };

struct command_option {
  const char *name, *names, *label, *value, *commands, *text;
};

static const struct command_option command_options[] = {
#define OPTION(name, key, type, normal, least, most, values)
#define COMMAND_LINE(name, names, label, value, commands, text) {#name, names, label, value, commands, text},
#include <mdl/options.def>
};
enum { COMMAND_OPTIONS = sizeof command_options / sizeof command_options[0] };

/* Prints a string literal. $ is replaced by `normal`, unless that is null. */
static void print_text(FILE *file, const char *text, size_t length, const char *normal) {
  fputc('"', file);
  for (const char *c = text; c < text + length; c++) {
    if (*c == '$' && normal) {
      fputs(normal, file);
    } else {
      fprintf(file, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    }
  }
  fputc('"', file);
}

/* Prints a list of what bars separate. */
static void print_list(FILE *file, const char *text) {
  fputs("List.of(", file);
  while (*text) {
    size_t length = strcspn(text, "|");
    print_text(file, text, length, NULL);
    text += length;
    if (*text) {
      fputs(", ", file);
      text++;
    }
  }
  fputc(')', file);
}

static const char *default_of(const char *name) {
  for (size_t i = 0; i < OPTIONS; i++) {
    if (strcmp(options[i].name, name) == 0) {
      return options[i].normal;
    }
  }
  fprintf(stderr, "options.def: there is no OPTION %s\n", name);
  exit(1);
}

static void write_options(const char *directory) {
  FILE *file = source_open(directory, "org.mdlagent.runtime.options", "AgentOption", "mdl/options.def");
  fputs("import java.util.List;\nimport org.jspecify.annotations.Nullable;\n\n"
        "/// The options of the agent: keys of `MDL_OPTIONS` and of properties files.\n"
        "public enum AgentOption {\n", file);
  for (size_t i = 0; i < OPTIONS; i++) {
    const struct option *option = &options[i];
    fprintf(file, "    %s(\"%s\", OptionType.%s, ", option->name, option->key, option->type);
    print_text(file, option->normal, strlen(option->normal), NULL);
    fprintf(file, ", %ld, %ld, ", option->least, option->most);
    print_list(file, option->values);
    fputs(i + 1 < OPTIONS ? "),\n" : ");\n", file);
  }
  fputs("\n"
        "    private final String key;\n"
        "    private final OptionType type;\n"
        "    private final String normal;\n"
        "    private final int least;\n"
        "    private final int most;\n"
        "    private final List<String> values;\n\n"
        "    AgentOption(String key, OptionType type, String normal, int least, int most, List<String> values) {\n"
        "        this.key = key;\n"
        "        this.type = type;\n"
        "        this.normal = normal;\n"
        "        this.least = least;\n"
        "        this.most = most;\n"
        "        this.values = values;\n"
        "    }\n\n"
        "    /// The option with a key, or null.\n"
        "    public static @Nullable AgentOption of(String key) {\n"
        "        for (AgentOption option : values()) {\n"
        "            if (option.key.equals(key)) {\n"
        "                return option;\n"
        "            }\n"
        "        }\n"
        "        return null;\n"
        "    }\n\n"
        "    public String key() {\n        return key;\n    }\n\n"
        "    public OptionType type() {\n        return type;\n    }\n\n"
        "    /// The default value.\n"
        "    public String normal() {\n        return normal;\n    }\n\n"
        "    /// The least number.\n"
        "    public int least() {\n        return least;\n    }\n\n"
        "    /// The greatest number.\n"
        "    public int most() {\n        return most;\n    }\n\n"
        "    /// The values of a choice.\n"
        "    public List<String> choices() {\n        return values;\n    }\n"
        "}\n", file);
  source_close(file);
}

static void write_command_options(const char *directory) {
  FILE *file = source_open(directory, "org.mdlagent.runtime.cli.run", "CommandOptionTable", "mdl/options.def");
  fputs("import java.util.List;\nimport org.mdlagent.runtime.options.AgentOption;\n\n"
        "/// How the command line sets options of the agent.\n"
        "final class CommandOptionTable {\n"
        "    static final List<CommandOption> ROWS = List.of(\n", file);
  for (size_t i = 0; i < COMMAND_OPTIONS; i++) {
    const struct command_option *option = &command_options[i];
    fprintf(file, "            new CommandOption(AgentOption.%s, ", option->name);
    print_list(file, option->names);
    fprintf(file, ", \"%s\", \"%s\", ", option->label, option->value);
    print_list(file, option->commands);
    fputs(",\n                    ", file);
    print_text(file, option->text, strlen(option->text), default_of(option->name));
    fputs(i + 1 < COMMAND_OPTIONS ? "),\n" : "));\n", file);
  }
  fputs("\n    private CommandOptionTable() {}\n}\n", file);
  source_close(file);
}

int main(int count, char **arguments) {
  if (count != 2) {
    fprintf(stderr, "usage: mdl-java-options DIRECTORY\n");
    return 2;
  }
  write_options(arguments[1]);
  write_command_options(arguments[1]);
  return 0;
}
