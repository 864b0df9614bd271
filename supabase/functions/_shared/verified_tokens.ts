/** The verified claims that the database checks. */
export interface Claims {
  readonly tenant_id: string;
  readonly exp?: number;
  readonly [name: string]: unknown;
}

/** Caches recently verified tokens, because senders repeat the same token. */
export interface VerifiedTokens {
  find(token: string): Claims | undefined;
  remember(token: string, claims: Claims): void;
}

/** A removed signing key works for this time, plus the cache time of the keys. */
const lifetimeMs = 60_000;
const maxTokens = 1000;

/** Expired tokens are not found (`exp` and `leewaySeconds`). No other check depends on the time. */
export function createVerifiedTokens(leewaySeconds: number, now: () => number): VerifiedTokens {
  const verified = new Map<string, { readonly claims: Claims; readonly until: number }>();
  return {
    find(token) {
      const found = verified.get(token);
      if (found === undefined || found.until > now()) return found?.claims;
      verified.delete(token);
      return undefined;
    },

    remember(token, claims) {
      // A Map lists the oldest entry first.
      for (const oldest of verified.keys()) {
        if (verified.size < maxTokens) break;
        verified.delete(oldest);
      }
      const end = ((claims.exp ?? 0) + leewaySeconds) * 1000;
      verified.set(token, { claims, until: Math.min(now() + lifetimeMs, end) });
    },
  };
}
