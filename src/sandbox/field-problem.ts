export type ProblemType =
  | "FieldValueNotFound"
  | "FieldValueRequired"
  | "FieldValueDuplicate"
  | "FieldValueInvalid"
  | "FieldValueTypeInvalid"
  | "FieldValueNotSupported"
  | "FieldValueForbidden"
  | "FieldValueTooLong"
  | "FieldValueTooMany";

/** One reason why an object is refused. `value` is shown as JSON where the API shows values. */
export interface FieldProblem {
  readonly type: ProblemType;
  readonly field: string;
  readonly value?: unknown;
  readonly detail?: string;
}

const titles: Readonly<Record<ProblemType, string>> = {
  FieldValueNotFound: "Not found",
  FieldValueRequired: "Required value",
  FieldValueDuplicate: "Duplicate value",
  FieldValueInvalid: "Invalid value",
  FieldValueTypeInvalid: "Invalid value",
  FieldValueNotSupported: "Unsupported value",
  FieldValueForbidden: "Forbidden",
  FieldValueTooLong: "Too long",
  FieldValueTooMany: "Too many",
};

const valueless: readonly ProblemType[] = ["FieldValueRequired", "FieldValueForbidden", "FieldValueTooLong"];

export function problemText({ type, value, detail }: FieldProblem): string {
  const shown = valueless.includes(type) ? "" : `: ${JSON.stringify(value ?? null)}`;
  return `${titles[type]}${shown}${detail ? `: ${detail}` : ""}`;
}

export function invalidValue(field: string, value: unknown, detail: string): FieldProblem {
  return { type: "FieldValueInvalid", field, value, detail };
}

export function required(field: string, detail = ""): FieldProblem {
  return { type: "FieldValueRequired", field, detail };
}

export function forbiddenField(field: string, detail: string): FieldProblem {
  return { type: "FieldValueForbidden", field, detail };
}

export function duplicate(field: string, value: unknown): FieldProblem {
  return { type: "FieldValueDuplicate", field, value };
}

export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldProblem {
  const detail = `supported values: ${supported.map((name) => JSON.stringify(name)).join(", ")}`;
  return { type: "FieldValueNotSupported", field, value, detail };
}
