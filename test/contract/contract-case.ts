import type { ContractServer } from "./contract-server.ts";

/** One promise that every Kubernetes API server keeps. It creates what it needs under names of its own. */
export interface ContractCase {
  readonly title: string;
  /** Most of its time is waiting, so it runs beside the others of which this is true. */
  readonly waits?: true;
  run(server: ContractServer): Promise<void>;
}
