/** What came of an attempt. `error` is for the tenant's eyes: no URL, no secret, no words of a peer. */
export type Outcome =
  | { readonly outcome: "delivered"; readonly status: number }
  | {
    readonly outcome: "retry" | "failed";
    readonly status?: number;
    readonly error: string;
    /** Seconds that the receiver asks to wait. */
    readonly retryAfter?: number;
  };

export function retry(
  error: string,
  status?: number,
  retryAfter?: number,
): Outcome {
  return { outcome: "retry", error, status, retryAfter };
}

export function failed(error: string, status?: number): Outcome {
  return { outcome: "failed", error, status };
}
