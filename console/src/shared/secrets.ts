/** Typed texts by the names of secrets; null takes one away. */
export type Secrets = Record<string, string | null>;
