// An embedded API server with one EndpointSlice, in a process of its own; see mesh-node-pods.ts.
import { namespaces } from "../src/kube/resource.ts";
import { type EndpointSlice, endpointSlices } from "../src/mesh-node/discovery/slice-facts.ts";
import { startSandbox } from "../src/sandbox/sandbox.ts";

export interface SliceClusterRun {
  readonly namespace: string;
}

export interface SliceClusterReady {
  readonly kind: "ready";
  readonly url: string;
  readonly caPem: string;
  readonly token: string;
}

export interface PublishSlice {
  readonly kind: "publish";
  readonly slice: EndpointSlice;
}

export interface SlicePublished {
  readonly kind: "published";
  /** When the slice was about to be written, on the clock of the machine. */
  readonly atMs: number;
}

async function run({ namespace }: SliceClusterRun): Promise<void> {
  process.on("disconnect", () => process.exit());
  const sandbox = await startSandbox({ clusters: ["bench"] });
  const { store, url, caPem, adminToken } = sandbox.cluster("bench");
  store.create(namespaces, { metadata: { name: namespace } });
  process.on("message", ({ slice }: PublishSlice) => {
    const atMs = Date.now();
    if (store.find(endpointSlices, { namespace, name: slice.metadata.name })) store.update(endpointSlices, slice);
    else store.create(endpointSlices, slice);
    process.send?.({ kind: "published", atMs } satisfies SlicePublished);
  });
  process.send?.({ kind: "ready", url, caPem, token: adminToken } satisfies SliceClusterReady);
}

await run(JSON.parse(process.argv[2] ?? "{}") as SliceClusterRun);
