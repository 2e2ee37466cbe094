import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { buildMeshNode } from "../scripts/build-mesh-node.ts";
import type { Children } from "./children.ts";
import { documentFigures, linkFigures, processFigures, treeFigures } from "./mesh-node-figures.ts";
import { LinkWatch } from "./mesh-node-links.ts";
import { documentsAfter, type Mesh, measureDocuments, measureIdle, measureLinks, say } from "./mesh-node-phases.ts";
import { PodBed, type PodHost, type PodProcess, startPodHost, startPodProcess } from "./mesh-node-pods.ts";
import type { MeshSection } from "./mesh-node-report.ts";

export interface MeshNodeOptions {
  readonly on: readonly MeshPlace[];
  /** How often the last pods join the processes. */
  readonly rounds: number;
  readonly documents: number;
  /** In one process tree. */
  readonly nodes: number;
}

export const meshPlaces = ["processes", "tree"] as const;
/** Five nodes as they are shipped, or many nodes in a few processes. */
export type MeshPlace = (typeof meshPlaces)[number];

/** Nodes that find each other by EndpointSlices, over real UDP sockets of this machine. */
export async function benchMeshNode(options: MeshNodeOptions, children: Children): Promise<MeshSection[]> {
  const measures = { processes: measureProcesses, tree: measureTree };
  const sections: MeshSection[] = [];
  for (const place of options.on) {
    const [loadBefore = Number.NaN] = loadavg();
    const bed = await PodBed.start(children);
    try {
      sections.push({ loadBefore, ...(await measures[place](bed, options, children)) });
    } finally {
      await bed.stop();
    }
  }
  return sections;
}

type Measured = Omit<MeshSection, "loadBefore">;

const processWaves = [3, 2];

async function measureProcesses(bed: PodBed, { rounds, documents: count }: MeshNodeOptions): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), "mesh-node-program-"));
  const processes: PodProcess[] = [];
  try {
    const program = await buildMeshNode(folder);
    const pods = bed.pods(processWaves);
    say(`${pods.length} processes start`);
    for (const pod of pods) processes.push(await startPodProcess(pod, program));
    const mesh = meshOf(bed, processes, processWaves);
    const links = await measureLinks(mesh, rounds);
    const idle = await measureIdle(processes);
    const documents = await measureDocuments(mesh, processes, count);
    const filledMib = (await Promise.all(processes.map((each) => each.cost()))).map(({ rssMib }) => rssMib);
    return {
      title: `${pods.length} processes on loopback addresses, ${count} documents of 200 bytes`,
      figures: [
        ...linkFigures(links, processWaves, false),
        ...documentFigures(documents),
        ...processFigures(idle, filledMib, documentsAfter(count)),
      ],
    };
  } finally {
    for (const { node } of processes) await node.end("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

const hostCount = 5;
const waveSize = 5;
const treeRounds = 2;

async function measureTree(bed: PodBed, { nodes }: MeshNodeOptions, children: Children): Promise<Measured> {
  const waves = Array.from({ length: Math.ceil(nodes / waveSize) }, (_, wave) =>
    Math.min(waveSize, nodes - wave * waveSize),
  );
  const pods = bed.pods(waves);
  const perHost = Math.ceil(nodes / hostCount);
  const hosts: PodHost[] = [];
  try {
    say(`${nodes} nodes start in ${hostCount} processes`);
    for (let first = 0; first < nodes; first += perHost)
      hosts.push(await startPodHost(pods.slice(first, first + perHost), children));
    const links = await measureLinks(meshOf(bed, hosts, waves), treeRounds);
    const idle = await measureIdle(hosts);
    return {
      title: `${nodes} nodes in ${hosts.length} processes on loopback addresses`,
      figures: [...linkFigures(links, waves, true), ...treeFigures(idle, nodes)],
    };
  } finally {
    await Promise.all(hosts.map((host) => host.stop()));
  }
}

function meshOf(bed: PodBed, groups: readonly (PodHost | PodProcess)[], waves: readonly number[]): Mesh {
  return { bed, watch: new LinkWatch(groups), ids: groups.flatMap(({ ids }) => ids), waves };
}
