import { Fragment, useMemo } from "react";
import type { IngestRulePreview } from "../service/logloom.ts";
import { Badge } from "../shared/basic-controls.tsx";
import { oneLine } from "../shared/safe-text.ts";
import { say } from "../shared/translate.ts";
import { previewRule } from "./rule-preview.js";

/** What a rule would do to the records of the last hour. A changed text is struck out. */
export default function DryRun({ preview }: { preview: IngestRulePreview }) {
  const { seen, matched, rule, examples } = preview;
  const records = useMemo(() => previewRule(rule, examples), [preview]);
  return (
    <section className="dry-run" aria-label={say("Dry run")}>
      <p role="status">{say("{matched} of {seen} in the last hour", { matched, seen })}</p>
      <ol>
        {records.map(({ isLeftOut, parts }, at) => (
          <li key={at}>
            {isLeftOut && <Badge tone="warn">{say("left out")}</Badge>}
            {parts.map(({ name, before, after }) => (
              <Fragment key={name}>
                {" "}
                <span className="about">{oneLine(name, 100)}</span>{" "}
                {before === after ? <bdi>{oneLine(after ?? "", 300)}</bdi> : (
                  <>
                    <del dir="auto">{oneLine(before ?? "", 1000)}</del>{" "}
                    <ins dir="auto">{oneLine(after ?? "", 1000)}</ins>
                  </>
                )}
              </Fragment>
            ))}
          </li>
        ))}
      </ol>
    </section>
  );
}
