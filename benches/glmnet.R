# Runs one LASSO path with glmnet, for `crates/hodgerank/benches/glmnet.rs`.
#
#   Rscript benches/glmnet.R DIR ROUNDS
#
# DIR contains the votes as raw little-endian arrays (left, right: int32; y, weight, lambda: double). The
# columns of the matrix are the items, which are not penalised, followed by one outlier per row. Reading and
# building the matrix are not timed. Prints the seconds of each round on one line, then the objective at each
# lambda on the next: sum of weight * (0.5 * (y - X theta - gamma)^2 + lambda * |gamma|).
suppressMessages(library(glmnet))

arguments <- commandArgs(trailingOnly = TRUE)
directory <- arguments[1]
rounds <- as.integer(arguments[2])

read_array <- function(name, what, size) {
  path <- file.path(directory, name)
  readBin(path, what, n = file.size(path) / size, size = size, endian = "little")
}
left <- read_array("left", "integer", 4L)
right <- read_array("right", "integer", 4L)
y <- read_array("y", "double", 8L)
weight <- read_array("weight", "double", 8L)
lambda <- read_array("lambda", "double", 8L)

rows <- length(y)
items <- max(left, right) + 1L
index <- seq_len(rows)
matrix <- sparseMatrix(
  i = c(index, index, index),
  j = c(left + 1L, right + 1L, items + index),
  x = c(rep(1, rows), rep(-1, rows), rep(1, rows)),
  dims = c(rows, items + rows)
)
penalised <- c(rep(0, items), weight)

# glmnet divides the loss by the sum of the weights, and scales penalty factors to a mean of one.
glmnet_lambda <- lambda / (items + rows)

seconds <- numeric(rounds)
for (round in seq_len(rounds)) {
  # system.time() counts milliseconds, which is too coarse for small studies.
  invisible(gc())
  started <- Sys.time()
  fit <- glmnet(matrix, y,
    weights = weight, lambda = glmnet_lambda, penalty.factor = penalised,
    standardize = FALSE, intercept = FALSE, maxit = 1e7
  )
  seconds[round] <- as.numeric(difftime(Sys.time(), started, units = "secs"))
}

objective <- vapply(seq_along(fit$lambda), function(k) {
  beta <- fit$beta[, k]
  residual <- y - as.vector(matrix %*% beta)
  gamma <- beta[items + index]
  sum(weight * (0.5 * residual^2 + lambda[k] * abs(gamma)))
}, numeric(1))
cat(format(seconds, digits = 6), "\n")
cat(format(objective, digits = 16), "\n")
