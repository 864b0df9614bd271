/** A rule as the database compiles it from a condition and an action. */
export interface CompiledRule {
  readonly id: string;
  /** All must hold. None: every event. */
  readonly when: readonly Test[];
  readonly do: Action;
}

/** A field or a top-level attribute. */
export type Place = { readonly f: string } | { readonly a: string };

export type Test =
  & {
    readonly not?: boolean;
    /**
     * A whole text for `=`. For `~` and `has` a pattern as in an unquoted term of the query language: `*`, `?`, and `\`
     * before a character that is literal.
     */
    readonly value: string | number;
  }
  & (
    | { readonly op: "has" }
    | (Place & { readonly op: "=" | "~" | ">" | ">=" | "<" | "<=" })
  );

export interface MaskAction {
  readonly type: "mask";
  readonly what: readonly string[];
  readonly pattern?: string | null;
  readonly label?: string | null;
  readonly in: "everywhere" | {
    readonly fields?: readonly string[];
    readonly attrs?: readonly string[];
  };
  readonly hash?: boolean;
}

export type Action =
  | MaskAction
  | { readonly type: "drop" }
  | {
    readonly type: "sample";
    readonly rate: number;
    readonly by: "req_id" | "record";
    /** An event that passes all tests of one of these is kept. */
    readonly keep?: readonly (readonly Test[])[];
  }
  | { readonly type: "parse"; readonly pattern: string }
  | ({ readonly type: "set"; readonly value: unknown } & Place)
  | { readonly type: "remove"; readonly a: string }
  | { readonly type: "level"; readonly from: Place | string };

/** What a rule did to the events of a batch. */
export interface RuleCounts {
  readonly id: string;
  seen: number;
  matched: number;
  /** Values that were replaced. */
  masked: number;
  dropped: number;
  /** Events that sampling left out. */
  sampled: number;
  /** Texts that were replaced whole because the time was over. */
  not_checked: number;
  /** About the bytes of left out events and removed attributes. */
  bytes: number;
}
