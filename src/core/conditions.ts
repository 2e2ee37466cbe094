/** metav1.Condition. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
  readonly lastTransitionTime: string;
}

export type ConditionNow = Omit<Condition, "lastTransitionTime">;

/** Each condition as it is now; the transition time moves only when the status does. Conditions of others stay. */
export function mergeConditions(
  before: readonly Condition[],
  now: readonly ConditionNow[],
  at: string,
): readonly Condition[] {
  const ours = now.map((condition): Condition => {
    const was = before.find(({ type }) => type === condition.type);
    const since = was && was.status === condition.status ? was.lastTransitionTime : at;
    return { ...condition, lastTransitionTime: since };
  });
  const foreign = before.filter(({ type }) => !now.some((condition) => condition.type === type));
  return [...ours, ...foreign].sort((a, b) => (a.type < b.type ? -1 : 1));
}
