/** Which folder of src may import which. Below all of them are `runtime` and `kube`, which know no mesh. */
export const mayImport: Readonly<Record<string, readonly string[]>> = {
  core: [],
  runtime: [],
  kube: ["runtime"],
  api: ["core", "kube"],
  registry: ["core", "runtime", "kube", "api"],
  operator: ["core", "runtime", "kube", "api", "registry"],
  sandbox: ["core", "runtime", "kube", "api"],
  cli: ["core", "runtime", "kube", "api", "registry", "operator", "sandbox"],
  "mesh-node": ["runtime", "kube"],
  bin: ["cli", "mesh-node"],
};

/** What only the mesh node may bring in: native code, wasm and servers that the operator does without. */
const onlyForMeshNode = /^(?:@number0\/iroh|@automerge\/|@connectrpc\/|@bufbuild\/|bonjour-service)/;

export interface SourceFile {
  /** Relative to the root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

const impure: readonly (readonly [RegExp, string])[] = [
  [/\bDate\.now\(|new Date\(\)|performance\.now\(/, "reads a clock"],
  [/\bMath\.random\(/, "is random"],
  [/\bprocess\./, "looks at the process"],
  [/\basync\b|\bawait\b|\bPromise\b/, "is asynchronous"],
  [/\bconsole\.|\bsetTimeout\(|\bfetch\(/, "has effects"],
];

const longestFile = 300;
const grabBags = new Set(["utils.ts", "helpers.ts", "common.ts", "types.ts"]);

/** Every way in which these files break the layers, as sentences. */
export function brokenLayers(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => [...brokenImports(file), ...impurities(file), ...badShape(file)]);
}

const layerOf = (path: string): string | undefined => /^src\/([^/]+)\//.exec(path)?.[1];
const isTest = (path: string): boolean => path.endsWith(".test.ts");
const isGenerated = (path: string): boolean => path.startsWith("src/mesh-node/gen/");

function brokenImports({ path, text }: SourceFile): string[] {
  const layer = layerOf(path);
  if (!layer || isTest(path)) return [];
  if (!mayImport[layer]) return [`${path}: the layer ${layer} is not in the picture`];
  return importsIn(text).flatMap((target) => {
    const problem = target.startsWith(".") ? wrongNeighbour(path, target) : wrongPackage(layer, target);
    return problem ? [`${path}: ${problem}`] : [];
  });
}

function wrongPackage(layer: string, target: string): string | undefined {
  if (layer === "core") return `must not import ${target}`;
  return layer !== "mesh-node" && onlyForMeshNode.test(target) ? `only mesh-node may import ${target}` : undefined;
}

function wrongNeighbour(path: string, target: string): string | undefined {
  const layer = layerOf(path) ?? "";
  if ((layer === "cli" || layer === "mesh-node") && target.endsWith("/package.json")) return undefined;
  const other = layerOf(resolve(path, target));
  if (!other) return `imports ${target}, which is outside src`;
  return other === layer || mayImport[layer]?.includes(other) ? undefined : `${layer} must not import ${other}`;
}

function importsIn(text: string): string[] {
  return [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*"([^"]+)"/g)].flatMap((match) => match[1] ?? []);
}

function resolve(path: string, target: string): string {
  return new URL(target, `file:///${path}`).pathname.slice(1);
}

function impurities({ path, text }: SourceFile): string[] {
  if (layerOf(path) !== "core" || isTest(path)) return [];
  const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
  return impure.filter(([pattern]) => pattern.test(code)).map(([, what]) => `${path} ${what}; core is pure`);
}

function badShape({ path, text }: SourceFile): string[] {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const lines = text.split("\n").length - 1;
  const problems = grabBags.has(name) ? [`${path}: a file has a subject, or does not exist`] : [];
  return lines > longestFile && !isTest(path) && !isGenerated(path)
    ? [...problems, `${path} has ${lines} lines, more than ${longestFile}`]
    : problems;
}
