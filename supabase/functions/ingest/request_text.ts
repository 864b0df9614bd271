import { eventFields } from "../_shared/record_fields.ts";
import { type Batch, batchJson, storableJson } from "./collector.ts";
import type { Text } from "./draft.ts";

/** Stands between the requests of a call. */
export const requestSeparator = "\x1c";
const nullValue = "\x1d";
const columnSeparator = "\x1e";
const valueSeparator = "\x1f";
/** Our separators, and NUL, which would end the text for Postgres. */
// deno-lint-ignore no-control-regex
const unfit = /[\0\x1c-\x1f]/;

/**
 * A batch and further parameters as a request for `ingest_text`: JSON of what is not a column, then the columns. Within
 * JSON the separators are escaped, so a batch with one of them in a text, which is rare, is JSON as a whole.
 */
export function batchText(batch: Batch, parameters: Record<string, unknown>): string {
  const columns = columnsText(batch);
  if (columns === undefined) return batchJson(batch, parameters);
  const { p_positions, p_rejected, p_errors, p_all_errors, p_guessed, p_cut } = batch;
  const rest = { p_positions, p_rejected, p_errors, p_all_errors, p_guessed, p_cut };
  return storableJson({ ...parameters, ...rest }) + columns;
}

/** Postgres splits this in half the time that it needs for JSON. Undefined for texts that do not fit. */
function columnsText(batch: Batch): string | undefined {
  let text = "";
  for (const field of eventFields) {
    text += columnSeparator;
    if (field === "attrs") {
      if (batch.p_attrs !== undefined) text += storableJson(batch.p_attrs);
      continue;
    }
    const column: readonly Text[] | undefined = batch[`p_${field}`];
    if (column === undefined) continue;
    // Would be no column.
    if (column.length === 1 && column[0] === "") return undefined;
    let checked: Text = null;
    for (let at = 0; at < column.length; at++) {
      const value = column[at];
      if (value !== checked && value !== null) {
        if (unfit.test(value)) return undefined;
        checked = value;
      }
      if (at > 0) text += valueSeparator;
      text += value ?? nullValue;
    }
  }
  return text;
}
