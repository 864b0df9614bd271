import { LinearRegex } from "../../_shared/linear_regex/regex_match.ts";
import { refuse } from "./loki_error.ts";

/** An expression of Go, refused as Loki does. */
export class LokiRegex extends LinearRegex {
  constructor(pattern: string, { isWhole = false } = {}) {
    super(pattern, { isWhole, refuse });
  }
}
