import { useId, useRef } from "react";
import { QueryBox } from "../search/query-box.tsx";
import type { BoxHandle } from "../search/query-editor.tsx";
import { useHas, useOperation } from "../service/operation-hooks.ts";
import { QueryVerdict } from "../search/query-verdict.tsx";
import type { Comparison } from "../service/logloom.ts";
import type { Draft } from "./rule-draft.ts";
import { signs } from "../shared/comparison-signs.ts";
import { readNumber, writtenNumber } from "../shared/format-number.ts";
import { CheckField, SelectField, TextField } from "../shared/form-fields.tsx";
import { say, type Words } from "../shared/translate.ts";

const lastHour = { from: "now-1h", to: "now" };

const words: Record<Comparison, Words> = {
  gt: "more than",
  gte: "at least",
  lt: "less than",
  lte: "at most",
  eq: "exactly",
  neq: "not exactly",
};

/** Of a rule that compares with what is usual. */
const wordsOfUsual: Partial<Record<Comparison, Words>> = {
  gt: "above usual by",
  gte: "above usual by",
  lt: "below usual by",
  lte: "below usual by",
};

/** The query and the condition on its value. */
export function ConditionFields({ draft, onChange }: {
  draft: Draft;
  onChange: (part: Partial<Draft>) => void;
}) {
  const box = useRef<BoxHandle>(null);
  const id = useId();
  const isUsual = draft.baselineDays !== "";
  const isNoNumber = draft.threshold !== "" && readNumber(draft.threshold) === null;
  const fields = useOperation("list_log_fields", {
    p_query_dsl: "",
    p_ts_from: lastHour.from,
    p_ts_to: lastHour.to,
  }, { enabled: useHas("list_log_fields") });
  return (
    <>
      <div>
        <p className="field-words">
          {say(
            "Query: counts the matching records, or ends with an aggregate such as | rate() or | p95(attrs.ms)",
          )}
        </p>
        <div className="query-field">
          <QueryBox
            ref={box}
            text={draft.query_dsl}
            fields={fields.data ?? []}
            range={lastHour}
            onChange={(query_dsl) => onChange({ query_dsl })}
            onRun={(query_dsl) => onChange({ query_dsl })}
          />
        </div>
        <QueryVerdict
          text={draft.query_dsl}
          onCorrect={(query_dsl) => box.current?.put(query_dsl)}
        />
      </div>
      <CheckField
        label={say("Compare with what was usual at this time of the last seven days")}
        checked={isUsual}
        onChange={(isOn) =>
          onChange({
            baselineDays: isOn ? "7" : "",
            threshold: isOn ? "4" : "10",
            comparison: isOn && !wordsOfUsual[draft.comparison] ? "gt" : draft.comparison,
          })}
      />
      <div className="condition">
        <SelectField
          label={say("Fires when it is")}
          value={draft.comparison}
          onChange={(text) => onChange({ comparison: text as Comparison })}
        >
          {(Object.keys(signs) as Comparison[]).map((one) => {
            const word = isUsual ? wordsOfUsual[one] : words[one];
            return word && <option key={one} value={one}>{signs[one]} {say(word)}</option>;
          })}
        </SelectField>
        <TextField
          label={isUsual ? say("Deviations") : say("Threshold")}
          required
          inputMode="decimal"
          value={draft.threshold}
          aria-invalid={isNoNumber}
          aria-describedby={isNoNumber ? id : undefined}
          onChange={(threshold) => onChange({ threshold })}
        />
        <TextField
          label={say("Window (minutes)")}
          required
          type="number"
          min={1}
          max={1440}
          value={draft.window_minutes}
          onChange={(window_minutes) => onChange({ window_minutes })}
        />
        <TextField
          label={say("Cooldown (minutes)")}
          required
          type="number"
          min={0}
          max={10080}
          value={draft.cooldown_minutes}
          onChange={(cooldown_minutes) => onChange({ cooldown_minutes })}
        />
      </div>
      {isNoNumber && (
        <p id={id} className="field-error" role="alert">
          {say("Write a number such as {number}, without separators of thousands.", {
            number: writtenNumber(1.5),
          })}
        </p>
      )}
    </>
  );
}
