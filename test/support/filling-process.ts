import { openDocuments } from "../../src/mesh-node/documents/open-documents.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { silentLogger } from "../../src/runtime/log.ts";

/**
 * Puts documents into the directory of its argument until the disk is full, then makes room and goes on. Prints, as
 * JSON, why a put failed and how many documents were readable when the disk was full, afterwards and after reopening.
 */
const [directory = "", filler = ""] = process.argv.slice(2);
const { writeFile, rm } = await import("node:fs/promises");
const options = { directory, clock: systemClock, log: silentLogger };
let documents = await openDocuments(options);
await writeFile(filler, Buffer.alloc(100_000));
const put = (n: number) => documents.put("c", `${n}`, JSON.stringify({ n, text: "x".repeat(2000) }));
let count = 0;
let failure = "";
while (!failure)
  await put(count).then(
    () => count++,
    (error: Error) => {
      failure = error.message;
    },
  );
const whenFull = (await documents.list("c")).length;
await rm(filler);
await put(count++);
const afterwards = (await documents.list("c")).length;
await documents.close();
documents = await openDocuments(options);
const reopened = (await documents.list("c")).length;
await documents.close();
process.stdout.write(JSON.stringify({ failure, whenFull, afterwards, reopened, acknowledged: count }));
