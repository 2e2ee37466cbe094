import { setTimeout as sleep } from "node:timers/promises";
import { type Access, applyObject, ask } from "./request.ts";

/** The part of a CustomResourceDefinition that says where its objects are served. */
export interface Crd {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly names: { readonly plural: string };
    readonly versions: readonly { readonly name: string; readonly served: boolean }[];
  };
}

/** Creates or changes the definition and resolves when the server serves every version of it. */
export async function createCrd<T extends Crd>(admin: Access, crd: T): Promise<void> {
  await applyObject(admin, `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd.metadata.name}`, crd);
  const { group, names, versions } = crd.spec;
  for (const version of versions.filter((candidate) => candidate.served)) {
    await untilServed(admin, `/apis/${group}/${version.name}/${names.plural}?limit=1`);
  }
}

async function untilServed(admin: Access, path: string): Promise<void> {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await sleep(50)) {
    const answer = await ask(admin, { path });
    if (answer.status === 200) return;
  }
  throw new Error(`${path} is not served`);
}
