import { clusterMeshes } from "../api/cluster-mesh.ts";
import {
  type CrdObject,
  clusterMeshCrd,
  conforms,
  customResourceDefinitions,
  clusterMeshCrdName as definition,
  isEstablished,
} from "../api/crd.ts";
import type { KubeClient } from "../kube/client.ts";
import { isKubeError } from "../kube/errors.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/log.ts";

export interface BootstrapPorts {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const pollMs = 200;
const writeDeadlineMs = 5000;
const establishedWithinMs = 30_000;

/** Makes the API server serve ClusterMesh. Writes nothing when it does so already as we want it. */
export async function bootstrapCrd(ports: BootstrapPorts): Promise<void> {
  const live = await read(ports);
  const wanted = clusterMeshCrd();
  const isWanted = live !== undefined && conforms(live.spec, wanted.spec);
  if (isWanted && isEstablished(live)) return;
  if (!isWanted) await write(ports, live, wanted);
  await established(ports);
}

async function read({ client, signal }: BootstrapPorts): Promise<CrdObject | undefined> {
  try {
    return await client.get(customResourceDefinitions, { name: definition }, { signal });
  } catch (error) {
    if (isKubeError(error, "not-found")) return undefined;
    throw error;
  }
}

async function write(ports: BootstrapPorts, live: CrdObject | undefined, wanted: CrdObject): Promise<void> {
  const { client, log, signal } = ports;
  const call = { signal, deadlineMs: writeDeadlineMs };
  try {
    if (live) await client.replace(customResourceDefinitions, { ...wanted, metadata: live.metadata }, call);
    else await client.create(customResourceDefinitions, wanted, call);
    log.info("definition written", { definition });
  } catch (error) {
    if (!isKubeError(error, "already-exists")) throw error;
  }
}

async function established(ports: BootstrapPorts): Promise<void> {
  const giveUpAt = ports.clock.now() + establishedWithinMs;
  for (;;) {
    const live = await read(ports);
    if (live && isEstablished(live)) return;
    if (ports.clock.now() > giveUpAt) throw new Error(`${definition} is not served after 30 s`);
    await ports.clock.sleep(pollMs, ports.signal);
  }
}

const lookAgainMs = 5000;

/** Waits until somebody else has made the API server serve ClusterMesh. Asks with the right to list meshes alone. */
export async function awaitCrd(ports: BootstrapPorts): Promise<void> {
  for (let isTold = false; !(await isServed(ports)); isTold = true) {
    if (!isTold) ports.log.warn("definition missing", { definition, todo });
    await ports.clock.sleep(lookAgainMs, ports.signal);
  }
}

const todo =
  "apply crd/clustermeshes.yaml of the chart, or let the operator install it: crd.install=operator, --install-crd=true";

async function isServed({ client, signal }: BootstrapPorts): Promise<boolean> {
  try {
    await client.list(clusterMeshes, { limit: 1, signal });
    return true;
  } catch (error) {
    if (isKubeError(error, "not-found")) return false;
    throw error;
  }
}
