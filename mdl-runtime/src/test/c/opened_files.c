/* Writes to files, sockets and pipes, as often as the name of each says. The argument is a directory. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void times(int count, int descriptor) {
  for (int i = 0; i < count; i++) {
    if (write(descriptor, "x", 1) != 1) {
      abort();
    }
  }
}

static int create(const char *path) {
  int descriptor = open(path, O_CREAT | O_RDWR, 0600);
  if (descriptor < 0) {
    perror(path);
    exit(1);
  }
  return descriptor;
}

static void *open_and_write(void *path) {
  int descriptor = create(path);
  times(50, descriptor);
  close(descriptor);
  return NULL;
}

static int listening(struct sockaddr_in *address) {
  socklen_t length = sizeof *address;
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (bind(listener, (struct sockaddr *)address, length) || listen(listener, 1) ||
      getsockname(listener, (struct sockaddr *)address, &length)) {
    abort();
  }
  return listener;
}

int main(int argc, char **argv) {
  int read_end_and_write_end[2];
  struct sockaddr_in address, peer;
  socklen_t length = sizeof peer;
  pthread_t threads[2];
  char byte;
  if (argc != 2 || chdir(argv[1])) {
    return 1;
  }
  int first = create("3 and 2 by a duplicate, 1 by a child");
  times(3, first);
  int second = dup(first);
  times(2, second);
  close(second);
  second = create("5, with the number of another");
  times(5, second);
  close(second);
  FILE *stream = fopen("4, of a stream", "w");
  times(4, fileno(stream));
  fclose(stream);
  mkdir("sub", 0700);
  int directory = open("sub", O_RDONLY | O_DIRECTORY);
  int inside = openat(directory, "7", O_CREAT | O_WRONLY, 0600);
  times(7, inside);
  int somewhere = create("sub/../6");
  times(6, somewhere);
  if (pipe(read_end_and_write_end)) {
    return 1;
  }
  times(8, read_end_and_write_end[1]);
  int listener = listening(&address);
  int connected = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(connected, (struct sockaddr *)&address, sizeof address)) {
    return 1;
  }
  int accepted = accept(listener, (struct sockaddr *)&peer, &length);
  for (int i = 0; i < 9; i++) {
    if (send(connected, "x", 1, 0) != 1 || recv(accepted, &byte, 1, 0) != 1) {
      return 1;
    }
  }
  pid_t child = fork();
  if (child == 0) {
    times(1, first);
    close(first);
    times(10, create("10, of a child"));
    return 0;
  }
  waitpid(child, NULL, 0);
  for (int i = 0; i < 2; i++) {
    pthread_create(&threads[i], NULL, open_and_write, "100, of two threads");
  }
  for (int i = 0; i < 2; i++) {
    pthread_join(threads[i], NULL);
  }
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  times(1, create("1, and the end"));
  _exit(0);
}
