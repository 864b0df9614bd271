/** One finding of doctor. */
export interface Finding {
  readonly check: string;
  readonly status: "ok" | "wrong" | "skipped";
  readonly message: string;
  /** How to mend the fault. */
  readonly todo?: string;
}

export const ok = (check: string, message: string): Finding => ({ check, status: "ok", message });

export const wrong = (check: string, message: string, todo: string): Finding => ({
  check,
  status: "wrong",
  message,
  todo,
});

export const skipped = (check: string, message: string): Finding => ({
  check,
  status: "skipped",
  message,
});

/** If a clock differs from ours by more than this, tokens fail and times are wrong. */
const clockSeconds = 30;

/** `theirs` was read between `before` and now. */
export function clockFinding(check: string, theirs: number, before: number): Finding {
  const seconds = Math.round((theirs - (before + Date.now()) / 2) / 1000);
  if (Math.abs(seconds) <= clockSeconds) return ok(check, "as this machine's");
  const direction = seconds > 0 ? "ahead of" : "behind";
  return wrong(
    check,
    `${Math.abs(seconds)} s ${direction} this machine's`,
    "Set the clock that is wrong (NTP): tokens and alerts depend on it.",
  );
}
