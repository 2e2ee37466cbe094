import type { Resource } from "../kube/resource.ts";
import type { FieldProblem } from "./field-problem.ts";
import type { NameRule } from "./metadata-validation.ts";
import type { Schema } from "./schema.ts";
import type { WireObject } from "./wire-object.ts";

/** One column of `kubectl get`. */
export interface Column {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: string;
  readonly description?: string;
  /** 0 is always shown, 1 only with `-o wide`. */
  readonly priority: number;
  value(object: WireObject, now: Date): string | number | boolean | null;
}

/** How writes to a resource behave. */
export interface Rules {
  readonly name: NameRule;
  /** `content`: every change outside metadata and status counts; `spec`: only a change of `spec`. */
  readonly generation: "none" | "spec" | "content";
  /** PUT without a resourceVersion replaces whatever is there. */
  readonly unconditionalUpdate: boolean;
  /** PUT creates what does not exist. */
  readonly createOnUpdate: boolean;
  /** DELETE answers with the object instead of a Status. */
  readonly returnsDeleted: boolean;
  /** `none`: no /status. `guarded`: create drops the status. `open`: create keeps it. */
  readonly status: "none" | "guarded" | "open";
  /** Labels and annotations can be changed through /status. */
  readonly metaThroughStatus: boolean;
  /** Throws `BadRequest` for a body that does not fit the type. */
  decode?(object: WireObject): void;
  prepare?(next: WireObject, previous: WireObject | undefined): WireObject;
  validate?(next: WireObject, previous: WireObject | undefined): readonly FieldProblem[];
  /** Seconds that a deleted object lives on; 0 or absent: none. */
  graceSeconds?(object: WireObject, requested: number | undefined): number;
}

/** A resource and version that the server serves. */
export interface ServedResource extends Resource {
  readonly singular: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** Versions and views of one resource share their objects under this name. */
  readonly storedAs: string;
  readonly custom: boolean;
  readonly rules: Rules;
  readonly columns: readonly Column[];
  /** Of a custom resource. */
  readonly schema?: Schema;
  /** The top-level fields of a built-in resource beside kind, apiVersion and metadata. */
  readonly fields: readonly string[];
  /** Fields beside name and namespace that a field selector may name. */
  readonly selectableFields: readonly string[];
  toWire?(stored: WireObject): WireObject;
  fromWire?(object: WireObject): WireObject;
}
