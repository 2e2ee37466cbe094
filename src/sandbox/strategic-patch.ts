import { sameJson } from "../api/same-json.ts";
import { isMap, type JsonMap } from "./json.ts";

/** Lists whose items are merged by a key. A field that appears with two keys lists both; the one present counts. */
const mergeKeys: Readonly<Record<string, readonly string[]>> = {
  addresses: ["type"],
  conditions: ["type"],
  containers: ["name"],
  initContainers: ["name"],
  ephemeralContainers: ["name"],
  env: ["name"],
  envFrom: [],
  hostAliases: ["ip"],
  imagePullSecrets: ["name"],
  ownerReferences: ["uid"],
  podIPs: ["ip"],
  ports: ["containerPort", "port"],
  secrets: ["name"],
  topologySpreadConstraints: ["topologyKey"],
  volumeDevices: ["devicePath"],
  volumeMounts: ["mountPath"],
  volumes: ["name"],
};

/** Lists of plain values that are merged as sets. */
const mergedValues: readonly string[] = ["finalizers", "podCIDRs"];

/** Strategic merge patch as built-in types define it: maps field by field, lists by their merge key. */
export function strategicPatched(target: JsonMap, patch: JsonMap): JsonMap {
  if (patch.$patch === "replace") return withoutDirectives(patch);
  const kept = retained(target, patch.$retainKeys);
  const result: Record<string, unknown> = { ...kept };
  for (const [field, change] of Object.entries(patch)) {
    if (field.startsWith("$")) applyDirective(result, field, change);
    else if (change === null) delete result[field];
    else result[field] = patchedField(field, result[field], change);
  }
  for (const field of Object.keys(patch)) applyOrder(result, field, { target, patch });
  return result;
}

function patchedField(field: string, current: unknown, change: unknown): unknown {
  if (isMap(change)) return strategicPatched(isMap(current) ? current : {}, change);
  if (!Array.isArray(change)) return change;
  const items = Array.isArray(current) ? current : [];
  if (mergedValues.includes(field)) return union(items, change);
  const keys = mergeKeys[field];
  if (!keys || !change.every(isMap)) return change;
  return mergedList(items, change, keys);
}

function mergedList(
  items: readonly unknown[],
  changes: readonly JsonMap[],
  keys: readonly string[],
): readonly unknown[] {
  if (changes.some((change) => change.$patch === "replace")) {
    return changes.filter((change) => change.$patch !== "replace").map(withoutDirectives);
  }
  const result = items.filter(isMap);
  for (const change of changes) {
    const key = keys.find((name) => change[name] !== undefined);
    if (key === undefined) return changes.map(withoutDirectives);
    const at = result.findIndex((item) => sameJson(item[key], change[key]));
    mergeItem(result, at, change);
  }
  return result;
}

function mergeItem(items: JsonMap[], at: number, change: JsonMap): void {
  if (change.$patch === "delete") items.splice(at < 0 ? items.length : at, 1);
  else if (at < 0) items.push(strategicPatched({}, change));
  else items[at] = strategicPatched(items[at] ?? {}, change);
}

function union(items: readonly unknown[], added: readonly unknown[]): readonly unknown[] {
  return [...items, ...added.filter((value) => !items.some((item) => sameJson(item, value)))];
}

function retained(target: JsonMap, keys: unknown): JsonMap {
  if (!Array.isArray(keys)) return target;
  return Object.fromEntries(Object.entries(target).filter(([field]) => keys.includes(field)));
}

function applyDirective(result: Record<string, unknown>, directive: string, change: unknown): void {
  const [, field] = /^\$deleteFromPrimitiveList\/(.+)$/.exec(directive) ?? [];
  const current = field === undefined ? undefined : result[field];
  if (field === undefined || !Array.isArray(current) || !Array.isArray(change)) return;
  result[field] = current.filter((item) => !change.some((removed) => sameJson(item, removed)));
}

/** Items of the patch in its order, the others as they were; among the two the order of before holds. */
function applyOrder(result: Record<string, unknown>, key: string, sides: { target: JsonMap; patch: JsonMap }): void {
  const field = key.replace(/^\$setElementOrder\//, "");
  const current = result[field];
  const order = sides.patch[`$setElementOrder/${field}`] ?? sides.patch[field];
  if (!Array.isArray(current) || !Array.isArray(order) || !isMerged(field)) return;
  const before = Array.isArray(sides.target[field]) ? sides.target[field] : [];
  const rank = (list: readonly unknown[], item: unknown): number =>
    list.findIndex((other) => sameItem(field, other, item));
  const named = current.filter((item) => rank(order, item) >= 0);
  named.sort((left, right) => rank(order, left) - rank(order, right));
  const others = current.filter((item) => rank(order, item) < 0);
  result[field] = interleaved(others, named, (item) => rank(before, item));
}

function interleaved(
  others: readonly unknown[],
  named: readonly unknown[],
  rank: (item: unknown) => number,
): readonly unknown[] {
  const result: unknown[] = [];
  const rest = [...named];
  for (const other of others) {
    while (rest.length > 0 && !(rank(rest[0]) >= 0 && rank(other) < rank(rest[0]))) result.push(rest.shift());
    result.push(other);
  }
  return [...result, ...rest];
}

function isMerged(field: string): boolean {
  return mergedValues.includes(field) || mergeKeys[field] !== undefined;
}

function sameItem(field: string, left: unknown, right: unknown): boolean {
  if (!isMap(left) || !isMap(right)) return sameJson(left, right);
  const key = mergeKeys[field]?.find((name) => left[name] !== undefined);
  return key !== undefined && sameJson(left[key], right[key]);
}

function withoutDirectives(map: JsonMap): JsonMap {
  return Object.fromEntries(Object.entries(map).filter(([field]) => !field.startsWith("$")));
}
