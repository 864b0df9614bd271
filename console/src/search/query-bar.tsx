import { type Ref, useEffect, useImperativeHandle, useRef, useState } from "react";
import { change } from "../address/address.ts";
import type { Field } from "../service/logloom.ts";
import { Button, IconButton } from "../shared/basic-controls.tsx";
import { Icon } from "../shared/icons.tsx";
import { prefer, usePreferences } from "../shared/preferences.ts";
import { useFeatures } from "./reader-features.ts";
import { QueryBox } from "./query-box.tsx";
import type { BoxHandle } from "./query-editor.tsx";
import type { EditQuery } from "./edit-query-context.ts";
import { QueryVerdict } from "./query-verdict.tsx";
import { RangePicker } from "./range-picker.tsx";
import { RefreshMenu } from "./refresh-menu.tsx";
import { SaveButton } from "./save-button.tsx";
import { type Run, runQuery } from "./search-run.ts";
import { say } from "../shared/translate.ts";

export interface BarHandle {
  focus: () => void;
  edit: EditQuery;
}

/** The bar with the query, the range and the buttons to run, follow and save. */
export function QueryBar({ run, fields, isPaused, onResume, ref }: {
  run: Run & { again: () => void };
  fields: Field[];
  /** The live view is paused. */
  isPaused: boolean;
  onResume: () => void;
  ref: Ref<BarHandle>;
}) {
  const [text, setText] = useState(run.query);
  // The text in the box now. The state follows a moment later.
  const content = useRef(run.query);
  const hold = (wanted: string) => {
    content.current = wanted;
    setText(wanted);
  };
  const { history } = usePreferences();
  const features = useFeatures();
  const box = useRef<BoxHandle>(null);
  const started = useRef<string | null>(run.query);
  // A click on a value, the back button or a link changes the query from outside, so the box must follow. A query that
  // was started here is already in the box, whose text may have changed since.
  useEffect(() => {
    if (started.current !== run.query) box.current?.put(run.query);
    started.current = null;
  }, [run.query]);

  const go = (wanted: string) => {
    if (wanted === run.query) {
      run.again();
    } else {
      started.current = wanted;
      runQuery(wanted);
    }
  };
  const start = (query: string) => {
    const wanted = query.trim();
    if (wanted !== "") {
      prefer({ history: [wanted, ...history.filter((one) => one !== wanted)].slice(0, 50) });
    }
    go(wanted);
  };
  useImperativeHandle(ref, () => ({
    focus: () => box.current?.focus(),
    edit: (edit) => {
      const wanted = edit(content.current).trim();
      box.current?.put(wanted);
      go(wanted);
    },
  }));

  return (
    <div className="query-bar">
      <div className="query-line" role="search">
        <div className="query-field">
          <Icon name="search" />
          <QueryBox
            ref={box}
            text={text}
            fields={fields}
            range={run.instants}
            onChange={hold}
            onRun={start}
          />
          {text !== "" && (
            <IconButton
              icon="close"
              label={say("Clear the query")}
              className="clear"
              onClick={() => {
                box.current?.put("");
                start("");
                box.current?.focus();
              }}
            />
          )}
        </div>
        <div className="query-actions">
          <RangePicker range={run.range} isLive={run.isLive} />
          {!run.isLive && <RefreshMenu again={run.again} />}
          {features.live && (
            <button
              type="button"
              className={run.isLive ? "button live on" : "button live"}
              aria-pressed={run.isLive}
              disabled={run.isAggregate}
              title={run.isAggregate
                ? say("Statistics have no live view")
                : run.isLive
                ? say("Stop following (l)")
                : say("Follow new records (l)")}
              onClick={() => isPaused ? onResume() : change({ live: run.isLive ? "" : "1" })}
            >
              <Icon name={run.isLive && !isPaused ? "pause" : "play"} />
              {isPaused ? say("Resume") : say("Live")}
            </button>
          )}
          {features.saved && <SaveButton query={run.query} />}
          <Button look="primary" onClick={() => start(content.current)}>{say("Run")}</Button>
        </div>
      </div>
      <QueryVerdict
        text={text}
        onCorrect={(wanted) => {
          box.current?.put(wanted);
          start(wanted);
          box.current?.focus();
        }}
      />
    </div>
  );
}
