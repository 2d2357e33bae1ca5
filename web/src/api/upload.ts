/** Sending a file with progress: `fetch` cannot tell how much has gone, XMLHttpRequest can. */
import { signed } from "./client";
import { Failed, isProblem, OFFLINE, problem } from "./problem";

export interface Sending {
  /** Bytes on their way, and of how many. */
  progress: (sent: number, total: number) => void;
  signal: AbortSignal;
}

/** POST a file; gives the parsed body (a noun, or a Job after 202). */
export async function upload<T>(
  path: string,
  file: Blob,
  { progress, signal }: Sending,
): Promise<T> {
  const { url, headers } = await signed(path);
  if (signal.aborted) throw cancelled(); // while the headers were made, there was nothing to end
  return new Promise<T>((resolve, reject) => {
    const sending = new XMLHttpRequest();
    const stop = () => sending.abort();
    sending.open("POST", url);
    for (const [name, value] of headers) sending.setRequestHeader(name, value);
    sending.setRequestHeader("Content-Type", "application/octet-stream");
    sending.responseType = "json";
    sending.upload.onprogress = (event) => progress(event.loaded, event.total);
    sending.onerror = () => reject(new Failed(OFFLINE));
    sending.onabort = () => reject(cancelled());
    sending.onloadend = () => signal.removeEventListener("abort", stop);
    sending.onload = () => {
      if (sending.status >= 200 && sending.status < 300) resolve(sending.response as T);
      else if (isProblem(sending.response)) reject(new Failed(sending.response, sending.status));
      else reject(new Failed(problem(`the server answered ${sending.status}`), sending.status));
    };
    signal.addEventListener("abort", stop, { once: true });
    sending.send(file);
  });
}

function cancelled(): Failed {
  return new Failed(problem("the upload was cancelled", "", "cancelled"));
}
