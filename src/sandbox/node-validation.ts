import { BlockList, isIP } from "node:net";
import { sameJson } from "../api/same-json.ts";
import { type FieldProblem, forbiddenField, invalidValue } from "./field-problem.ts";
import { listOf, mapOf } from "./json.ts";
import type { WireObject } from "./wire-object.ts";

/** A Node has its pod networks twice; a writer that knows only the older field sets both, and the list wins. */
export function withBothPodNetworks(node: WireObject): WireObject {
  const spec = mapOf(node.spec);
  const [first, ...others] = listOf(spec.podCIDRs);
  if (first === undefined && !spec.podCIDR) return node;
  const podCIDR = first ?? spec.podCIDR;
  return { ...node, spec: { ...spec, podCIDR, podCIDRs: [podCIDR, ...others] } };
}

export function validateNode(node: WireObject, previous: WireObject | undefined): FieldProblem[] {
  const networks = listOf(mapOf(node.spec).podCIDRs);
  const before = mapOf(previous?.spec);
  return [
    ...networks.flatMap(networkProblems),
    ...familyProblems(networks.map(String)),
    ...fixedProblems("podCIDRs", networks, listOf(before.podCIDRs)),
    ...fixedProblems("providerID", mapOf(node.spec).providerID ?? "", before.providerID ?? ""),
  ];
}

function networkProblems(network: unknown, index: number): FieldProblem[] {
  if (isNetwork(String(network))) return [];
  const rule = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
  return [invalidValue(`spec.podCIDRs[${index}]`, network, rule)];
}

function isNetwork(text: string): boolean {
  const [address = "", length = "", ...rest] = text.split("/");
  const family = isIP(address);
  if (family === 0 || rest.length > 0 || !/^\d{1,3}$/.test(length)) return false;
  try {
    new BlockList().addSubnet(address, Number(length), family === 4 ? "ipv4" : "ipv6");
    return true;
  } catch {
    return false;
  }
}

function familyProblems(networks: readonly string[]): FieldProblem[] {
  const families = new Set(networks.map((network) => network.includes(":")));
  if (networks.length <= families.size) return [];
  return [invalidValue("spec.podCIDRs", networks, "may specify no more than one CIDR for each IP family")];
}

function fixedProblems(field: string, value: unknown, before: unknown): FieldProblem[] {
  const isSet = Array.isArray(before) ? before.length > 0 : before !== "";
  if (!isSet || sameJson(value, before)) return [];
  const shown = field === "podCIDRs" ? "podCIDR" : field;
  return [forbiddenField(`spec.${field}`, `node updates may not change ${shown} except from "" to valid`)];
}
