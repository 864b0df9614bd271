import { type ReactNode, useId, useState } from "react";
import { labels } from "../../../supabase/functions/_shared/record_fields.ts";
import { writeAddress } from "../address/address.ts";
import { wholeTime } from "../address/range.ts";
import type { Mode } from "../language/edit-query.ts";
import { exactJson } from "../service/exact-json.ts";
import type { LogRecord } from "../service/logloom.ts";
import { CopyButton } from "../shared/copy-button.tsx";
import { Icon } from "../shared/icons.tsx";
import { usePreferences } from "../shared/preferences.ts";
import { ContextDialog } from "./context-dialog.tsx";
import { useFeatures } from "./reader-features.ts";
import { LongText } from "./long-text.tsx";
import { Message } from "./record-message.tsx";
import { SeenLine } from "./seen-line.tsx";
import { Tree } from "./value-tree.tsx";
import { say } from "../shared/translate.ts";
import { Button } from "../shared/basic-controls.tsx";

/** A complete record: message, fields and attributes, with actions for each value. */
export function Detail({ record, onFilter, children }: {
  record: LogRecord;
  onFilter: (field: string, value: string, mode: Mode) => void;
  /** Shown below the attributes. */
  children: ReactNode;
}) {
  const { zone } = usePreferences();
  const features = useFeatures();
  const [isRaw, setRaw] = useState(false);
  const [hasContext, setContext] = useState(false);
  const menu = useId();
  const link = () =>
    `${location.origin}${location.pathname}${
      writeAddress({
        screen: "search",
        parameters: { id: record.id, at: record.ts },
      })
    }`;
  const known = Object.fromEntries(
    labels.filter((name) => record[name] !== null).map((name) => [name, record[name]]),
  );
  return (
    <div className="detail">
      <div className="detail-cell">
        <div className="detail-tools">
          <time
            dateTime={record.ts}
            title={say("received {time}", { time: wholeTime(record.received_at, zone) })}
          >
            {wholeTime(record.ts, zone)}
          </time>
          <span className="spring" />
          {features.context && (
            <Button look="small" onClick={() => setContext(true)}>
              <Icon name="context" />
              {say("Context")}
            </Button>
          )}
          <Button look="small" popoverTarget={menu}>
            {say("Copy or show")} <Icon name="down" />
          </Button>
          <div id={menu} popover="auto" className="popover menu">
            <CopyButton text={() => exactJson(record)} label={say("Copy JSON")} />
            {record.msg !== null && (
              <CopyButton
                text={record.msg}
                label={say("Copy the message")}
              />
            )}
            {features.links && <CopyButton text={link} label={say("Copy link")} />}
            <Button
              look="small"
              popoverTarget={menu}
              popoverTargetAction="hide"
              onClick={() => setRaw(!isRaw)}
            >
              {isRaw ? say("Show as fields") : say("Show as JSON")}
            </Button>
          </div>
        </div>
        {isRaw ? <LongText text={exactJson(record)} className="raw" /> : (
          <>
            {record.msg !== null && <Message text={record.msg} />}
            <SeenLine record={record} />
            <Tree value={known} path={[]} onFilter={onFilter} />
            {record.attrs && Object.keys(record.attrs).length > 0 && (
              <Tree value={record.attrs} path={["attrs"]} onFilter={onFilter} />
            )}
            {children}
          </>
        )}
      </div>
      {hasContext && <ContextDialog record={record} onClose={() => setContext(false)} />}
    </div>
  );
}
