import type { LogQuery } from "./logql_query.ts";
import type { NamesOf } from "./label_names.ts";
import type { Grouping } from "./syntax_tree.ts";

/** A metric query as a tree. */
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
  /** absent_over_time: 1 if the range has no record. */
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
  /** Undefined if all labels must be equal. */
  readonly labels: { readonly isOn: boolean; readonly names: readonly string[] } | undefined;
}

/** A function over the records of a time range that ends at each step. */
export interface Range {
  readonly kind: "range";
  readonly logs: LogQuery;
  /** An aggregate of our query language; undefined if the records themselves must be read. */
  readonly aggregate: string | undefined;
  /** How to join the values of adjacent time ranges; undefined if they cannot be joined. */
  readonly joins: "sum" | "min" | "max" | undefined;
  /** The range's function, computed record by record. */
  readonly sampled: Sampled;
  readonly seconds: number;
  readonly isPerSecond: boolean;
  readonly offset: number;
  /** Names of labels. */
  readonly by: readonly string[];
  /** True if the metric has its own grouping. Its series then have only the labels of the grouping. */
  readonly isGrouped: boolean;
}

export interface Sampled {
  readonly name: string;
  /** The first argument of quantile_over_time. */
  readonly number: number;
  /** Undefined if the function counts records or bytes of lines. */
  readonly unwrapped:
    | { readonly name: string; readonly conversion: string | undefined }
    | undefined;
}

/** The surroundings of a metric within a query. */
export interface Context {
  readonly namesOf: NamesOf;
  /** The labels that the outer expression needs. */
  readonly wanted: readonly string[];
}
