/** A mistake in the command line or the environment: said in a few lines, without a stack, and what to do next. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
