import type { NoAnswer, Outgoing, OutgoingAnswer } from "../_shared/outgoing_request.ts";
import type { Batch } from "./batch.ts";
import type { Outcome } from "./delivery_outcome.ts";

/** The opened secrets of a stream. */
export type Secrets = Readonly<Record<string, string>>;

/** How to send to a kind of receiver, and how to read its answers. */
export interface Kind {
  readonly push: (
    batch: Batch,
    secrets: Secrets,
    send: Outgoing,
    now: () => Date,
  ) => Promise<OutgoingAnswer | NoAnswer>;
  /** Set for receivers whose status alone does not give the outcome. */
  readonly judge?: (answer: OutgoingAnswer, batch: Batch, now: Date) => Outcome;
}
