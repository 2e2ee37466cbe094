import { setTimeout as delay } from "node:timers/promises";
import { nodes } from "../../src/kube/resource.ts";
import { TestBed } from "./test-bed.ts";
import { answerJson, startHttp1Server } from "./test-server.ts";

/** Makes calls and a watch, closes the client and must then exit by itself. */
const bed = await TestBed.create();
const config = process.argv[2] === "h2" ? await http2() : await http1();
const client = bed.client(config);
await client.get(nodes, { name: "n" });
const { signal } = new AbortController();
await client.watch(nodes, { signal, resourceVersion: "1", timeoutSeconds: 300 });
await client.get(nodes, { name: "n" });
client.close();
await bed.stopAll();
await delay(50);
const kept = process.getActiveResourcesInfo().filter((resource) => !/^(PipeWrap|TTYWrap)$/.test(resource));
console.log(kept.length === 0 ? "nothing left" : kept.join(","));

async function http2() {
  const { server } = await bed.pair((stream, { path }) => {
    if (!path.includes("watch=1")) return answerJson(stream, { metadata: {} });
    stream.respond({ ":status": 200, "content-type": "application/json" });
  });
  return server.config;
}

async function http1() {
  const server = await startHttp1Server(bed.certificates, ({ url }, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    if (url?.includes("watch=1")) response.write("{}\n");
    else response.end('{"metadata":{}}');
  });
  return bed.stops(server).config;
}
