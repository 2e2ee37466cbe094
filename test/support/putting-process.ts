import { openDocuments } from "../../src/mesh-node/documents/open-documents.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { jsonLogger } from "../../src/runtime/log.ts";

/**
 * Puts documents until it is killed and prints a line when one is durable: `id number`, the number that is in it.
 * Arguments: the data directory and the first number. Four puts are under way at once, some to one document, and numbers only grow.
 */
const [directory = "", first = "0"] = process.argv.slice(2);
const documents = await openDocuments({
  directory,
  clock: systemClock,
  log: jsonLogger("error"),
  slackBytes: 3000,
});

let next = Number(first);

async function putOnAndOn(): Promise<void> {
  for (;;) {
    const number = next++;
    const id = number % 3 === 0 ? "shared" : `own-${number % 10}`;
    await documents.put("c", id, JSON.stringify({ number, text: "x".repeat(number % 300) }));
    process.stdout.write(`${id} ${number}\n`);
  }
}

process.stdout.write("ready\n");
await Promise.all([1, 2, 3, 4].map(putOnAndOn));
