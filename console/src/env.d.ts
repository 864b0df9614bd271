declare module "mustache";
declare module "*.css";
declare module "*.grammar" {
  import type { LRParser } from "@lezer/lr";
  export const parser: LRParser;
}
declare module "*.grammar.terms" {
  const terms: Record<string, number>;
  export = terms;
}
