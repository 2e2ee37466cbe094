/** Something outside keeps the node from running. The message says what, and which flag to change. */
export class StartError extends Error {
  override readonly name = "StartError";
}
