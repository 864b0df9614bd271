/** Of verified claims those that the database judges. */
export interface Claims {
  readonly tenant_id: string;
  readonly exp?: number;
  readonly [name: string]: unknown;
}

/** Tokens that were verified a moment ago: who sends often sends the same one again. */
export interface VerifiedTokens {
  find(token: string): Claims | undefined;
  remember(token: string, claims: Claims): void;
}

/** With the time for which the set of keys is known, how long a key is good that has left it. */
const lifetimeMs = 60_000;
const maxTokens = 1000;

/** None is found past its `exp` and `leewaySeconds`; what else time does to a token makes it no worse. */
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
      // The oldest comes first in a Map.
      for (const oldest of verified.keys()) {
        if (verified.size < maxTokens) break;
        verified.delete(oldest);
      }
      const end = ((claims.exp ?? 0) + leewaySeconds) * 1000;
      verified.set(token, { claims, until: Math.min(now() + lifetimeMs, end) });
    },
  };
}
