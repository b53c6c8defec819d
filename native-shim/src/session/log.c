#include "session/log.h"

#include "os/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char log_path[PATH_MAX];

/* Lines buffered before the log exists. Written by the constructor, then by the agent thread. */
static char waiting[4096];
static size_t waiting_length;

struct decimal decimal(int64_t value) {
  struct decimal result;
  char *at = result.text + sizeof result.text;
  uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  *--at = 0;
  do {
    *--at = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest);
  if (value < 0) {
    *--at = '-';
  }
  memmove(result.text, at, (size_t)(result.text + sizeof result.text - at));
  return result;
}

struct line {
  char text[2048];
  size_t length;
};

static void append(struct line *line, const char *text, size_t length) {
  size_t room = sizeof line->text - 1 - line->length; /* one byte stays for the newline */
  if (length > room) {
    length = room;
  }
  memcpy(line->text + line->length, text, length);
  line->length += length;
}

static void append_digits(struct line *line, int value, int digits, char end) {
  char text[8];
  text[digits] = end;
  for (int i = digits - 1; i >= 0; i--) {
    text[i] = (char)('0' + value % 10);
    value /= 10;
  }
  append(line, text, (size_t)digits + 1);
}

struct tm utc_of(time_t seconds) {
  /* Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": civil_from_days, for days after 1970. */
  int64_t days = seconds / 86400;
  int second = (int)(seconds % 86400);
  int64_t shifted = days + 719468;
  int64_t era = shifted / 146097;
  int day_of_era = (int)(shifted - era * 146097);
  int year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  int day_from_march = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  int month_from_march = (5 * day_from_march + 2) / 153;
  int day = day_from_march - (153 * month_from_march + 2) / 5 + 1;
  int month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
  int year = (int)(year_of_era + era * 400) + (month <= 2);
  bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return (struct tm){
      .tm_year = year - 1900,
      .tm_mon = month - 1,
      .tm_mday = day,
      .tm_hour = second / 3600,
      .tm_min = second / 60 % 60,
      .tm_sec = second % 60,
      .tm_wday = (int)((days + 4) % 7),
      .tm_yday = month > 2 ? day_from_march + 59 + leap : day_from_march - 306,
      .tm_zone = "UTC",
  };
}

/* RFC 3339 in UTC, without libc's time zone lock and buffers. */
static void append_time(struct line *line) {
  uint64_t now = clock_nanos(CLOCK_REALTIME);
  struct tm utc = utc_of((time_t)(now / 1000000000u));
  append_digits(line, utc.tm_year + 1900, 4, '-');
  append_digits(line, utc.tm_mon + 1, 2, '-');
  append_digits(line, utc.tm_mday, 2, 'T');
  append_digits(line, utc.tm_hour, 2, ':');
  append_digits(line, utc.tm_min, 2, ':');
  append_digits(line, utc.tm_sec, 2, '.');
  append_digits(line, (int)(now / 1000000 % 1000), 3, 'Z');
  append(line, " ", 1);
}

static void write_out(const char *text, size_t length) {
  /* Opened for each line: if the application shares our descriptors, it may have closed them. */
  int file = open(log_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (file >= 0) {
    struct stat status;
    /* Do not block on, or write to, a pipe or another file that somebody has put there. */
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
      if ((status.st_mode & 0600) != 0600) {
        fchmod(file, 0600); /* new, and the umask may have removed our own rights */
      }
      if (write(file, text, length) < 0) {
        /* If the log cannot be written, there is no place to report it. */
      }
    }
    close(file);
  }
}

void log_line(const char *part, ...) {
  int error = errno;
  struct line line = {.length = 0};
  append_time(&line);
  va_list parts;
  va_start(parts, part);
  for (; part; part = va_arg(parts, const char *)) {
    append(&line, part, strlen(part));
  }
  va_end(parts);
  line.text[line.length++] = '\n';
  if (log_path[0]) {
    write_out(line.text, line.length);
  } else if (line.length <= sizeof waiting - waiting_length) {
    memcpy(waiting + waiting_length, line.text, line.length);
    waiting_length += line.length;
  }
  errno = error;
}

void log_open(const char *directory) {
  int length = snprintf(log_path, sizeof log_path, "%s/agent.log", directory);
  if (length < 0 || (size_t)length >= sizeof log_path) {
    log_path[0] = 0;
    return;
  }
  write_out(waiting, waiting_length);
  waiting_length = 0;
}
