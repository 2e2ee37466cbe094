import { expect } from "vitest";
import { attempts, verbs } from "./absence-cases.ts";
import { aMap, maps } from "./arrange.ts";
import type { ContractCase } from "./contract-case.ts";
import type { ContractServer } from "./contract-server.ts";
import { refusal } from "./refusal.ts";

export const credentialCases: readonly ContractCase[] = [
  ...verbs.map((verb) => ({
    title: `${verb} with a token that the server does not know is unauthorized, and changes nothing`,
    run: async (server: ContractServer) => {
      const before = await aMap(server);
      const error = await refusal(attempts[verb](server.clientWith("not-a-token"), maps, before.metadata));
      expect([error.kind, error.status]).toEqual(["unauthorized", 401]);
      expect(await server.client.get(maps, before.metadata)).toEqual(before);
    },
  })),
  ...verbs.map((verb) => ({
    title: `${verb} without any credential is forbidden, and changes nothing`,
    run: async (server: ContractServer) => {
      const before = await aMap(server);
      const error = await refusal(attempts[verb](server.clientWith(), maps, before.metadata));
      expect([error.kind, error.status]).toEqual(["forbidden", 403]);
      expect(await server.client.get(maps, before.metadata)).toEqual(before);
    },
  })),
  {
    title: "the error of a refused token does not hold the token",
    run: async (server) => {
      const token = "a-secret-that-nobody-may-read";
      const error = await refusal(server.clientWith(token).list(maps, { namespace: "default" }));
      expect(error.kind).toBe("unauthorized");
      expect(JSON.stringify([error.message, error.causes, error.detail, String(error.stack)])).not.toContain(token);
    },
  },
];
