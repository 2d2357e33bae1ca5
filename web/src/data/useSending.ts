import { useCallback, useState, useSyncExternalStore } from "react";
import { cancel, forget, send, subscribe, uploadAt } from "./uploads";

/** Sends one file at a time from a place, with progress and a way to end it. */
export function useSending<T>(place: string) {
  const { sending, problem } = useSyncExternalStore(
    subscribe,
    useCallback(() => uploadAt(place), [place]),
  );
  const [refused, setRefused] = useState<unknown>(null);
  return {
    sending,
    problem: refused ?? problem,
    /** A file that is not even sent. */
    refuse(wrong: unknown) {
      forget(place);
      setRefused(wrong);
    },
    send(path: string, file: File, then: (made: T) => void) {
      setRefused(null);
      void send<T>(place, path, file, then);
    },
    cancel: () => cancel(place),
  };
}
