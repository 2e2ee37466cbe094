import { type Document, isMap, LineCounter, parseDocument, visit } from "yaml";

const maxBytes = 256 * 1024;
/** A kubeconfig of 256 KiB is mostly base64. Many small tokens instead cost the parser seconds. */
const maxTokens = 20_000;

export type YamlReading = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly why: string };

/** Reads one YAML (or JSON) document from outside. `why` names a line at most: the text around it may be a secret. */
export function readUntrustedYaml(text: string): YamlReading {
  if (Buffer.byteLength(text) > maxBytes) return refuse(`is larger than ${maxBytes / 1024} KiB`);
  if (countTokens(text) > maxTokens) return refuse("has too many entries");
  const lines = new LineCounter();
  const document = parse(text, lines);
  if (!document || document.errors.some(({ code }) => code === "RESOURCE_EXHAUSTION")) {
    return refuse("is nested too deeply");
  }
  const [error] = [...document.errors, ...document.warnings];
  if (error) return refuse(`is not valid YAML (line ${lines.linePos(error.pos[0]).line})`);
  const hazard = findHazard(document, lines);
  return hazard ? refuse(hazard) : { ok: true, value: document.toJS() };
}

function refuse(why: string): YamlReading {
  return { ok: false, why };
}

function countTokens(text: string): number {
  return text.match(/\s+|[^\sA-Za-z0-9+/=._]/g)?.length ?? 0;
}

/** `uniqueKeys` is off because that check is quadratic; `findHazard` does it in one pass. */
function parse(text: string, lineCounter: LineCounter): Document.Parsed | undefined {
  try {
    return parseDocument(text, { uniqueKeys: false, prettyErrors: false, lineCounter });
  } catch {
    return undefined;
  }
}

function findHazard(document: Document.Parsed, lines: LineCounter): string | undefined {
  let hazard: string | undefined;
  const found = (what: string, range: readonly number[] | null | undefined) => {
    hazard = `${what} (line ${lines.linePos(range?.[0] ?? 0).line})`;
    return visit.BREAK;
  };
  visit(document, {
    Alias: (_, node) => found("uses a YAML alias", node.range),
    Node: (_, node) => {
      if ("anchor" in node && node.anchor) return found("uses a YAML anchor", node.range);
      if (isMap(node) && hasDuplicateKey(node.items)) return found("has the same key twice", node.range);
      return undefined;
    },
  });
  return hazard;
}

function hasDuplicateKey(pairs: readonly { readonly key: unknown }[]): boolean {
  return new Set(pairs.map((pair) => String(pair.key))).size !== pairs.length;
}
