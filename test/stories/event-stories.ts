import { ok } from "node:assert/strict";
import { type EventObject, events } from "../../src/kube/event-object.ts";

import type { MeshFacts } from "./facts.ts";
import { untilUnknown } from "./said.ts";
import type { Stage } from "./stage.ts";
import { story } from "./story.ts";

const secret = "cluster-b-kubeconfig";

async function eventsAbout(stage: Stage, mesh: MeshFacts): Promise<readonly EventObject[]> {
  const { metadata } = await stage.mesh(mesh);
  const { items } = await stage.admin(mesh.home).list(events, { namespace: mesh.namespace });
  return items.filter(({ regarding }) => regarding.uid === metadata.uid);
}

export const eventStories = [
  story("a mesh tells of its troubles in Events, and counts those that come again", async (stage) => {
    const mesh = await stage.begin(["a", "b"]);
    const untilTold = (times: number): Promise<void> =>
      stage.eventually(async () => {
        const told = await eventsAbout(stage, mesh);
        const trouble = told.find(({ type, note }) => type === "Warning" && note.includes("cluster-b"));
        ok((trouble?.series?.count ?? (trouble ? 1 : 0)) >= times, JSON.stringify(told));
      });
    await stage.eventually(async () => ok((await eventsAbout(stage, mesh)).some(({ type }) => type === "Normal")));
    for (const times of [1, 2]) {
      await stage.deleteSecret(mesh, secret);
      await untilUnknown(stage, mesh, { cluster: "cluster-b", reason: "SecretMissing", person: true });
      await untilTold(times);
      await stage.putSecret(mesh, secret, "b");
      await stage.synced();
    }
  }),
];
