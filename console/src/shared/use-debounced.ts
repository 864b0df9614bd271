import { useEffect, useState } from "react";

/** The value once it has not changed for 300 ms, so that typing and dragging send few requests. */
export function useLater<Value>(value: Value): Value {
  const [later, setLater] = useState(value);
  const text = JSON.stringify(value);
  useEffect(() => {
    const timer = setTimeout(() => setLater(JSON.parse(text)), 300);
    return () => clearTimeout(timer);
  }, [text]);
  return later;
}
