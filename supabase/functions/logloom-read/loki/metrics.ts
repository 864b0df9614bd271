import type { LogQuery } from "./logql_query.ts";
import type { NamesOf } from "./names.ts";
import type { Grouping } from "./syntax_tree.ts";

/** What a metric query computes. */
export type Metric =
  | { readonly kind: "number"; readonly value: number }
  /** vector(1): one series without labels. */
  | { readonly kind: "vector"; readonly value: number }
  | Range
  | {
    readonly kind: "aggregate";
    readonly operator: string;
    readonly count: number;
    readonly grouping: Grouping;
    readonly of: Metric;
  }
  | {
    readonly kind: "binary";
    readonly operator: string;
    readonly matching: Matching;
    readonly left: Metric;
    readonly right: Metric;
  }
  /** 1 where a range has no record. */
  | { readonly kind: "absent"; readonly of: Range; readonly labels: Record<string, string> }
  | {
    readonly kind: "label_replace";
    readonly of: Metric;
    readonly target: string;
    readonly replacement: string;
    readonly source: string;
    readonly pattern: string;
  };

/** How an operator finds the series that belong together. */
export interface Matching {
  readonly isBool: boolean;
  /** Undefined where all labels count. */
  readonly labels: { readonly isOn: boolean; readonly names: readonly string[] } | undefined;
}

/** A function over the records of a time that ends at each step. */
export interface Range {
  readonly kind: "range";
  readonly logs: LogQuery;
  /** An aggregate of our query language; undefined where only records tell. */
  readonly aggregate: string | undefined;
  /** How the values of adjacent times become that of both; undefined where they cannot. */
  readonly joins: "sum" | "min" | "max" | undefined;
  /** The same by records. */
  readonly sampled: Sampled;
  readonly seconds: number;
  readonly isPerSecond: boolean;
  readonly offset: number;
  /** Names of labels. */
  readonly by: readonly string[];
  /** By a grouping of its own, outside of which it has no labels. */
  readonly isGrouped: boolean;
}

export interface Sampled {
  readonly name: string;
  /** Of quantile_over_time. */
  readonly number: number;
  /** Undefined where records count, or their lines' bytes. */
  readonly unwrapped:
    | { readonly name: string; readonly conversion: string | undefined }
    | undefined;
}

/** What a metric is read with. */
export interface Context {
  readonly namesOf: NamesOf;
  /** Labels that what stands around a metric needs of it. */
  readonly wanted: readonly string[];
}
