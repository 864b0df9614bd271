/** The outcome of an attempt. The tenant sees `error`: no URL, no secret, no text from the receiver. */
export type Outcome =
  | { readonly outcome: "delivered"; readonly status: number }
  | {
    readonly outcome: "retry" | "failed";
    readonly status?: number;
    readonly error: string;
    /** Seconds to wait, as the receiver asks. */
    readonly retryAfter?: number;
  };

export function retry(error: string, status?: number, retryAfter?: number): Outcome {
  return { outcome: "retry", error, status, retryAfter };
}

export function failed(error: string, status?: number): Outcome {
  return { outcome: "failed", error, status };
}
