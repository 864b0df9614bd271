import {
  type ComponentType,
  type KeyboardEvent,
  type Ref,
  useEffect,
  useImperativeHandle,
  useRef,
  useState,
} from "react";
import { usePreferences } from "../shared/preferences.ts";
import type { QueryBoxProps } from "./query-editor.tsx";
import { say } from "../shared/translate.ts";

/** The query's box: a plain input until the editor has loaded. */
export function QueryBox(props: QueryBoxProps) {
  const [Editor, setEditor] = useState<
    ComponentType<QueryBoxProps & { hadFocus: boolean }> | null
  >(null);
  const input = useRef<HTMLInputElement>(null);
  const hadFocus = useRef(false);
  useEffect(() => {
    let isHere = true;
    import("./query-editor.tsx").then(({ QueryEditor }) => {
      if (!isHere) return;
      hadFocus.current = document.activeElement === input.current;
      setEditor(() => QueryEditor);
    }, () => {
      // Without the editor the plain input still works, but has no completion.
    });
    return () => {
      isHere = false;
    };
  }, []);
  if (Editor) return <Editor {...props} hadFocus={hadFocus.current} />;
  return <PlainBox {...props} input={input} />;
}

function PlainBox({ text, onChange, onRun, ref, input }: QueryBoxProps & {
  input: Ref<HTMLInputElement> & { current: HTMLInputElement | null };
}) {
  const { history } = usePreferences();
  const [place, setPlace] = useState(-1);
  useImperativeHandle(ref, () => ({ focus: () => input.current?.focus(), put: onChange }), [
    input,
    onChange,
  ]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter") {
      event.preventDefault();
      onRun(text);
    } else if (event.key === "ArrowUp" && place < history.length - 1) {
      event.preventDefault();
      onChange(history[place + 1] ?? "");
      setPlace(place + 1);
    } else if (event.key === "ArrowDown" && place >= 0) {
      event.preventDefault();
      onChange(history[place - 1] ?? "");
      setPlace(place - 1);
    }
  };
  return (
    <input
      ref={input}
      className="query-input"
      aria-label={say("Query")}
      placeholder='level:error service:api "slow query"'
      spellCheck={false}
      autoCapitalize="off"
      autoComplete="off"
      value={text}
      onChange={(event) => {
        onChange(event.target.value);
        setPlace(-1);
      }}
      onKeyDown={onKeyDown}
    />
  );
}
