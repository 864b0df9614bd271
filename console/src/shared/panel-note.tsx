import { answerTime } from "../service/answer-times.ts";
import { took } from "./format-number.ts";
import { say } from "./translate.ts";

/** A note beside a panel's title: whether it loads, how long the answer took, how much it covers. */
export function PanelNote({ answer, isBusy, of }: {
  answer: unknown;
  isBusy: boolean;
  /** How much of the data the panel covers. */
  of?: string | null;
}) {
  const ms = answerTime(answer);
  const parts = [of, ms !== undefined && took(ms)].filter(Boolean);
  return (
    <span className="panel-note" aria-busy={isBusy || undefined}>
      {isBusy && <span className="busy" role="img" aria-label={say("Busy")} />}
      {parts.join(" · ")}
    </span>
  );
}
