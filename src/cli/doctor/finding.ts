/** The result of a check. */
export interface Finding {
  /** What was checked, such as `store`. */
  readonly check: string;
  readonly state: "ok" | "warning" | "failed";
  readonly message: string;
  /** What to do about it; absent if nothing must be done. */
  readonly advice?: string;
}

export function ok(check: string, message: string): Finding {
  return { check, state: "ok", message };
}

export function warning(check: string, message: string, advice: string): Finding {
  return { check, state: "warning", message, advice };
}

export function failed(check: string, message: string, advice: string): Finding {
  return { check, state: "failed", message, advice };
}
