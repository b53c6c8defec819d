# Lists what Java gets of mdl/layout.h and mdl/api.h, as macros for layout.c: a class for each `struct mdl_X`.
#
#   fields                       offsets, in upper case; padding (pad, reserved) is left out
#   enum mdl_X_FIELD { MDL_A }   XDescriptor.FIELD_A; without repeating the name of the structure or of the field
#   #define MDL_A, enum { MDL_A }  XDescriptor.A, with X the next structure or named enum. A field of that name is A_AT
#   char field[n]                FIELD_BYTES as well

function class_of(type,    words, n, i, name) {
  n = split(type, words, "_")
  for (i = 1; i <= n; i++) name = name toupper(substr(words[i], 1, 1)) substr(words[i], 2)
  return name "Descriptor"
}

function begin_class(type) {
  if (!(type in known)) {
    known[type] = 1
    order[++types] = type
  }
  for (i = 1; i <= pending; i++) add_constant(type, waiting[i], without(waiting_name[i], type))
  pending = 0
}

# A name without the prefix of a type or field.
function without(name, prefix) {
  prefix = toupper(prefix) "_"
  return index(name, prefix) == 1 ? substr(name, length(prefix) + 1) : name
}

function add_constant(type, constant, name) {
  taken[type, name] = 1
  constants[type] = constants[type] "CONSTANT(" constant ", \"" name "\")\n"
}

function add_fields(type, line,    is_text, name) {
  is_text = line ~ /^ *char .*\[[^\]]/
  sub(/;.*/, "", line)
  sub(/\[.*/, "", line)
  name = line
  sub(/.* /, "", name)
  if (line ~ /^ *$/ || name ~ /^(pad|reserved)[0-9]*$/) return
  if (line !~ /^ +(struct )?[a-z0-9_]+ [a-z0-9_]+$/) {
    print "layout.awk: not a field of mdl_" type ": " line > "/dev/stderr"
    failed = 1
    exit 1
  }
  fields[type] = fields[type] name " " is_text " "
}

function add_enum(text,    tag, field, type, list, n, i, name) {
  tag = text
  sub(/^enum */, "", tag)
  sub(/ *\{.*/, "", tag)
  sub(/^mdl_/, "", tag)
  field = tag
  sub(/.*_/, "", field)
  type = substr(tag, 1, length(tag) - length(field) - 1)
  if (tag != "") begin_class(type)
  sub(/^[^{]*\{/, "", text)
  sub(/\}.*/, "", text)
  n = split(text, list, ",")
  for (i = 1; i <= n; i++) {
    sub(/=.*/, "", list[i])
    gsub(/[ \t\n]/, "", list[i])
    if (list[i] == "") continue
    name = substr(list[i], 5)
    if (tag == "") {
      waiting[++pending] = list[i]
      waiting_name[pending] = name
    } else {
      name = without(without(name, type), field)
      prefix = type
      sub(/_.*/, "", prefix)
      add_constant(type, list[i], toupper(field) "_" without(name, prefix))
    }
  }
}

# Comments go first: they may contain anything.
{
  line = $0
  while (1) {
    if (in_comment) {
      end = index(line, "*/")
      if (!end) { line = ""; break }
      line = kept substr(line, end + 2)
      in_comment = 0
    }
    start = index(line, "/*")
    if (!start) break
    kept = substr(line, 1, start - 1)
    line = substr(line, start + 2)
    in_comment = 1
    if (!index(line, "*/")) { line = kept; kept = ""; break }
  }
}

line ~ /^#define MDL_[A-Z0-9_]+ +[^ ]/ {
  split(line, words, " ")
  waiting[++pending] = words[2]
  waiting_name[pending] = substr(words[2], 5)
  next
}

line ~ /^enum/ { enum_text = " " }
enum_text != "" {
  enum_text = enum_text line "\n"
  if (line ~ /\}/) {
    add_enum(substr(enum_text, 2))
    enum_text = ""
  }
  next
}

line ~ /^struct mdl_[a-z_0-9]+ \{/ {
  struct_type = line
  sub(/^struct mdl_/, "", struct_type)
  sub(/ .*/, "", struct_type)
  is_struct[struct_type] = 1
  begin_class(struct_type)
  next
}
line ~ /^\};/ { struct_type = "" }
struct_type != "" { add_fields(struct_type, line) }

END {
  if (failed) exit 1
  for (t = 1; t <= types; t++) {
    type = order[t]
    print "CLASS(\"mdl_" type "\", \"" class_of(type) "\")"
    n = split(fields[type], words, " ")
    for (i = 1; i < n; i += 2) {
      name = toupper(words[i])
      if (name == "SIZE" || (type, name) in taken) name = name "_AT"
      print "FIELD(mdl_" type ", " words[i] ", \"" name "\")"
      if (words[i + 1]) print "BYTES(mdl_" type ", " words[i] ", \"" name "_BYTES\")"
    }
    if (type in is_struct) print "SIZE(mdl_" type ")"
    printf "%s", constants[type]
  }
}
