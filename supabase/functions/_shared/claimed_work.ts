import type { CallDatabase } from "./database.ts";
import { logFailure } from "./errors.ts";

/** How a call serves its claims, and when it stops claiming. */
export interface Turn<Claim> {
  /** Works at one claim; never rejects. */
  readonly serve: (claim: Claim) => Promise<void>;
  /** Whether the call must stop claiming work. */
  readonly isSpent?: () => boolean;
  /** Other work of the call, which it also waits for. */
  readonly beside?: Promise<void>;
}

/**
 * Claims work while fewer than `limit` pieces are under way, so a hanging receiver delays no other work. The database
 * decides whose turn it is, and may return fewer claims. Only one call works at a time, however often a function is
 * woken.
 */
export function workAtClaims<Claim>(
  { operation, callDatabase, limit, begin }: {
    operation: string;
    callDatabase: CallDatabase;
    limit: number;
    begin: () => Turn<Claim>;
  },
): () => Promise<void> {
  const inFlight = new Set<Promise<void>>();
  let working: Promise<void> | undefined;
  let wake = () => {};

  async function claim({ serve }: Turn<Claim>): Promise<boolean> {
    const room = limit - inFlight.size;
    if (room <= 0) return false;
    const answer = await claimed(callDatabase(operation, JSON.stringify({ p_limit: room })));
    if (answer === undefined) return false;
    const claims = JSON.parse(answer) as Claim[];
    for (const claim of claims) {
      const serving = serve(claim).finally(() => inFlight.delete(serving));
      inFlight.add(serving);
    }
    return claims.length > 0;
  }

  async function drain(): Promise<void> {
    const turn = begin();
    const isSpent = () => turn.isSpent?.() ?? false;
    for (;;) {
      const woken = new Promise<void>((resolve) => wake = resolve);
      if (!isSpent() && await claim(turn)) continue;
      if (inFlight.size === 0) return await turn.beside;
      await Promise.race(isSpent() ? inFlight : [woken, ...inFlight]);
    }
  }

  return () => {
    wake();
    return working ??= drain().finally(() => working = undefined);
  };
}

/**
 * Returns the answer of a call that claims work; undefined if the call failed. Logs a 409 with its reason (the database
 * belongs to another project), because nothing else shows it.
 */
export async function claimed(call: ReturnType<CallDatabase>): Promise<string | undefined> {
  const answer = await call;
  if (answer.ok) return answer.value;
  if (answer.failure.status === 409) logFailure("no work here", { reason: answer.failure.error });
}

/**
 * Tells the database how a piece of work ended, with a few retries: unsettled work is done again when its claim ends.
 */
export async function settle(
  call: () => ReturnType<CallDatabase>,
  pause: (milliseconds: number) => Promise<void>,
): ReturnType<CallDatabase> {
  for (const wait of [500, 2000]) {
    const settled = await call();
    if (settled.ok) return settled;
    await pause(wait);
  }
  return await call();
}
