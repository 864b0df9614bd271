import { Dialog } from "../shared/dialog.tsx";
import { say, type Words } from "../shared/translate.ts";

const keys: [string, Words][] = [
  ["Ctrl K", "go to a screen, a saved search, a dashboard, a tenant"],
  ["/", "to the search box"],
  ["Enter", "in the box: run the query; Ctrl+Enter adds a line"],
  ["↑ ↓", "in an empty box: earlier queries"],
  ["j  k", "next and previous row"],
  ["o", "open or close the row"],
  ["f", "show or hide the fields"],
  ["l", "live on or off"],
  ["r", "run again"],
  ["?", "this help"],
];

const examples: [string, Words][] = [
  ["*", "every record"],
  ["timeout", "the word anywhere in msg"],
  ['"connection refused"', "the phrase"],
  ["level:>=warn service:api", "both are true"],
  ["-env:prod", "not this value, or no env at all"],
  ["service:(api OR worker)", "any of several"],
  ["attrs.status:>=500", "a number in attrs"],
  ['msg:~"time(d )?out"', "a regular expression"],
  ["level:error | count() by service", "numbers instead of records"],
];

export function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={say("Keys and queries")} onClose={onClose} size="wide">
      <div className="help">
        <section>
          <h3>{say("Keys")}</h3>
          <dl className="keys">
            {keys.map(([key, what]) => (
              <div key={key}>
                <dt>
                  {key.split("  ").map((one) => <kbd key={one}>{one}</kbd>)}
                </dt>
                <dd>{say(what)}</dd>
              </div>
            ))}
          </dl>
        </section>
        <section>
          <h3>{say("Queries")}</h3>
          <dl className="keys examples">
            {examples.map(([query, what]) => (
              <div key={query}>
                <dt>
                  <code>{query}</code>
                </dt>
                <dd>{say(what)}</dd>
              </div>
            ))}
          </dl>
        </section>
      </div>
    </Dialog>
  );
}
