/** Who pipes into `head` has read enough: that is no failure, and ends the process. */
export function endWhenUnread(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
}
