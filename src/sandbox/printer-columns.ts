import { humanAge } from "./age.ts";
import type { JsonMap } from "./json.ts";
import { parseJsonPath, valuesAt } from "./json-path.ts";
import type { Column } from "./served-resource.ts";
import type { WireObject } from "./wire-object.ts";

export const nameColumn: Column = {
  name: "Name",
  type: "string",
  format: "name",
  description: "Name must be unique within a namespace.",
  priority: 0,
  value: (object) => object.metadata.name,
};

export const ageColumn: Column = {
  name: "Age",
  type: "string",
  description: "How long ago the object was created.",
  priority: 0,
  value: (object, now) => humanAge(object.metadata.creationTimestamp, now),
};

const creationColumn: Column = { ...ageColumn, type: "date" };

/** The name, then the columns that a CustomResourceDefinition declares; without any, the age. */
export function customColumns(declared: readonly JsonMap[]): readonly Column[] {
  if (declared.length === 0) return [nameColumn, creationColumn];
  return [nameColumn, ...declared.map(customColumn)];
}

function customColumn(declared: JsonMap): Column {
  const path = parseJsonPath(String(declared.jsonPath));
  const type = String(declared.type) as Column["type"];
  return {
    name: String(declared.name),
    type,
    ...(declared.format !== undefined && { format: String(declared.format) }),
    description: String(
      declared.description ?? `Custom resource definition column (in JSONPath format): ${declared.jsonPath}`,
    ),
    priority: Number(declared.priority ?? 0),
    value: (object, now) => cellOf(valuesAt(path, object), type, now),
  };
}

function cellOf(values: readonly unknown[], type: Column["type"], now: Date): ReturnType<Column["value"]> {
  const [first] = values;
  if (first === undefined || first === null) return null;
  if (type === "date") return humanAge(String(first), now);
  if (type === "integer") return typeof first === "number" ? Math.trunc(first) : null;
  if (type === "number") return typeof first === "number" ? first : null;
  if (type === "boolean") return typeof first === "boolean" ? first : null;
  return values.map((value) => (typeof value === "object" ? JSON.stringify(value) : String(value))).join(" ");
}

export interface ColumnOptions {
  readonly type?: Column["type"];
  readonly wide?: boolean;
}

export function column(name: string, value: (object: WireObject) => unknown, options: ColumnOptions = {}): Column {
  return {
    name,
    type: options.type ?? "string",
    priority: options.wide ? 1 : 0,
    value: (object) => {
      const found = value(object);
      if (typeof found === "number" || typeof found === "boolean") return found;
      return found === undefined || found === "" ? "<none>" : String(found);
    },
  };
}
