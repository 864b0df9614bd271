import type { NoAnswer, Outgoing, OutgoingAnswer } from "../_shared/outgoing.ts";
import type { Batch } from "./batch.ts";
import type { Outcome } from "./outcome.ts";

/** The secrets of a stream, opened. */
export type Secrets = Readonly<Record<string, string>>;

/** A kind of receiver: what it is sent, and what its answers mean. */
export interface Kind {
  readonly push: (
    batch: Batch,
    secrets: Secrets,
    send: Outgoing,
    now: () => Date,
  ) => Promise<OutgoingAnswer | NoAnswer>;
  /** Where the status does not say it all. */
  readonly judge?: (answer: OutgoingAnswer, batch: Batch, now: Date) => Outcome;
}
