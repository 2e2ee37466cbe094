import { notAcceptable } from "./status.ts";

/** The form of an answer: whole objects, a table for a terminal, or metadata only. */
export type Format = "json" | "table" | "partial" | "discovery";

/** The first form the client accepts that the server can give. Throws `NotAcceptable`. */
export function formatOf(accept: string | undefined, offered: readonly Format[]): Format {
  if (!accept || accept.trim() === "") return "json";
  for (const range of accept.split(",")) {
    const format = formatOfRange(range.trim());
    if (format && offered.includes(format)) return format;
  }
  throw notAcceptable(["application/json"]);
}

function formatOfRange(range: string): Format | undefined {
  const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
  if (!["application/json", "application/*", "*/*"].includes(type)) return undefined;
  const as = parameters.find((parameter) => parameter.startsWith("as="))?.slice(3);
  if (as === undefined) return "json";
  if (as === "Table") return "table";
  if (as === "PartialObjectMetadata" || as === "PartialObjectMetadataList") return "partial";
  return as === "APIGroupDiscoveryList" && parameters.includes("v=v2") ? "discovery" : undefined;
}
