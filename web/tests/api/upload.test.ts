import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Failed } from "@/api/problem";
import { upload } from "@/api/upload";

let headers: Promise<void>;
vi.mock("@/api/client", () => ({
  signed: async (path: string) => {
    await headers;
    return { url: path, headers: [] };
  },
}));

const requests: Request_[] = [];

class Request_ {
  upload = {};
  status = 0;
  response: unknown = null;
  sent = false;
  onload = () => undefined;
  onabort = () => undefined;
  onloadend = () => undefined;
  constructor() {
    requests.push(this);
  }
  open() {}
  setRequestHeader() {}
  send() {
    this.sent = true;
  }
  abort() {
    this.onabort();
    this.onloadend();
  }
}

beforeEach(() => {
  requests.length = 0;
  headers = Promise.resolve();
  vi.stubGlobal("XMLHttpRequest", Request_);
});
afterEach(() => vi.unstubAllGlobals());

const told = { progress: () => undefined };
const code = (error: unknown) => (error instanceof Failed ? error.problem.code : error);

it("cancelled before anything is sent: nothing is", async () => {
  let ready: () => void = () => undefined;
  headers = new Promise((done) => {
    ready = done;
  });
  const control = new AbortController();
  const sending = upload("/x", new Blob(["a"]), { ...told, signal: control.signal });
  control.abort();
  ready();
  expect(code(await sending.catch((error) => error))).toBe("cancelled");
  expect(requests).toEqual([]);
});

it("cancelled on its way: it ends", async () => {
  const control = new AbortController();
  const sending = upload("/x", new Blob(["a"]), { ...told, signal: control.signal });
  await vi.waitFor(() => expect(requests[0]?.sent).toBe(true));
  control.abort();
  expect(code(await sending.catch((error) => error))).toBe("cancelled");
});
