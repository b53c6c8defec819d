# Conditions, closures, on.exit, vectors, matrices, callbacks from C, collections.
fib <- function(n) if (n < 2) n else fib(n - 1) + fib(n - 2)
tree <- function(n) if (n == 0) NULL else list(tree(n - 1), paste0("n", n), tree(n - 1))
count <- function(t) if (is.null(t)) 0 else 1 + count(t[[1]]) + nchar(t[[2]]) + count(t[[3]])
closed <- 0
fall <- function(depth, kind) { on.exit(closed <<- closed + 1); if (depth > 0) fall(depth - 1, kind) else if (kind %% 3 == 0) stop(paste("thrown", kind)) else kind }
total <- 0
for (round in 1:12) {
  for (i in 1:150) total <- total + tryCatch(fall(i %% 10, i), error = function(e) nchar(conditionMessage(e)), finally = closed <- closed + 1)
  words <- as.character((1:3000 * 7919) %% 50021)
  total <- total + sum(nchar(gsub("[0-4]+", "x", sort(words, method = "radix")))) + sum(vapply(words, nchar, 1L))
  m <- matrix(((1:10000) * 7919) %% 101, 100)
  total <- total + sum(round(m %*% t(m))) %% 1e6 + sum(Reduce(`+`, Map(function(a, b) a * b, 1:500, 500:1), accumulate = TRUE)) %% 1e6
  total <- total + round(optimize(function(x) (x - round)^2, c(0, 100))$minimum) + count(tree(9)) + fib(15)
  if (round %% 4 == 0) invisible(gc())
  total <- total %% 1000000007
}
cat("sum", format(total, digits = 12), closed, "\n")
quit(status = 6)
